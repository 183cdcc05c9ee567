"""Tasks of each owner: reminders, and automations that wake the agent; the one loop that fires them (rules 6 to 9, 28, 30, 31)."""
