"""What paid calls cost: prices, the usage ledger, and the rolling cap (rules 1 to 3)."""
