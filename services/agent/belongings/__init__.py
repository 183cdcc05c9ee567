"""What the agent keeps of a person, as a whole: to take away, and to have deleted."""
