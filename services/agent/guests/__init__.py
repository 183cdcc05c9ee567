"""Guests: whoever has not signed in. Everything of theirs is in this process's memory, and gone with their visit (rule 22)."""
