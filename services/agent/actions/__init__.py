"""What waits on a card because the conversation has read untrusted text (S11)."""
