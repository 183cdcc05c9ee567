"""Records that staff let the agent read."""
