"""Calls: what askers ask, from admission to the last byte of the answer."""
