"""Who has an item open: a courtesy with a lease, not a lock."""
