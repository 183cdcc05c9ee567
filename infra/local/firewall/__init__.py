"""Only connectors may leave this machine: rules of the kernel's firewall by OS user, put in at a start and taken away at the stop."""
