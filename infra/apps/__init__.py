"""Where apps' code runs: OS user `apps`, no keys, no network, no database, a process for each app (S4)."""
