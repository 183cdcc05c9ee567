"""What the agent proposes to the console: apps, records, cleanup jobs. A person accepts or refuses; the agent is told (rule 28)."""
