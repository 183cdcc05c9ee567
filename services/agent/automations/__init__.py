"""Automations: what the agent does by itself at its times, because a person allowed exactly that on a card (rules 28, 30, 31; S10)."""
