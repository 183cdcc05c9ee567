"""The only way out of the machine: names are resolved once, addresses are checked, and what was checked is what is dialled (rule 26)."""
