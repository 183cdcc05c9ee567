"""How the whole system is doing, and who may do what in it: what the supervisor reports, shown."""
