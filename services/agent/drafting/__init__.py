"""What the agent proposes to the console: apps of tables, rows, cleanup jobs; and which tables staff let it know of."""
