"""Asking the connectors (S10): the wire, and the asker's side of it."""
