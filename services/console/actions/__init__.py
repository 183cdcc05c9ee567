"""Action cards: what the agent would do in a conversation that has read untrusted text, and what people decided on it (S11)."""
