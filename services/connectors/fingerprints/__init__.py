"""Keyed fingerprints of our own secrets, by which the lock knows them without having them (S14)."""
