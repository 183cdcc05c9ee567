"""What the agent can do: typed tools, listed per role. Nothing here decides what becomes public (rule 20)."""
