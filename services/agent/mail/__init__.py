"""Mail of people: the accounts that they have, and what the agent does in them, through connectors (rule 15). Guests have none."""
