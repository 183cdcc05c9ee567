"""Mail accounts of people: each adds their own; the passwords are sealed at once, as secrets of that person's (rules 15, 16)."""
