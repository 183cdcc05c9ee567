"""Approval cards: who waits for what, and what a person decided (rule 28)."""
