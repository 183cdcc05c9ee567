"""Keys and tokens of the agent's API: made here, told to the agent as signed statements, taken back within a second (S8)."""
