"""What the agent spent: a copy of its usage ledger, as the agent told it row by row."""
