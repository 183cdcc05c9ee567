"""The copy of the call audit as a chain: what is read to recompute it."""
