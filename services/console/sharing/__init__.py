"""What staff let the agent read: visitors' feedback, items, texts. Record by record, and taken back at any time (architecture 3)."""
