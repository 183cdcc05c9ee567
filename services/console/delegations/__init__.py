"""For whom the agent may act at the connectors: signed, for half a day, and renewed for whoever is here (S10)."""
