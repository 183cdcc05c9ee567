"""The agent's settings (architecture 7): spend caps, its model, whether it may propose. A person decides, the agent says what is in force."""
