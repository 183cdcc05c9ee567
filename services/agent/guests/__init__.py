"""Guests: everything in this process's memory, gone with the session (rule 22)."""
