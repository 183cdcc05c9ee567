"""What the agent hands to the lock, and what became of it."""
