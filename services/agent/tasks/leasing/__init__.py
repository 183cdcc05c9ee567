"""Who fires all tasks: the lease as a row, and this process as its holder or standby."""
