"""What is asked of the connectors: admitted, written down, done through the guarded way, and answered (S10, rules 17 and 28)."""
