"""Approval cards: what a person has to allow before it happens, and what was allowed (rule 28)."""
