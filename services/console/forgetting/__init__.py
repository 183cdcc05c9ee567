"""Somebody is to be forgotten: what the console keeps of them beside the records themselves (S15)."""
