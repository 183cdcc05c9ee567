"""Conversations and their messages, one turn at a time (rule 4)."""
