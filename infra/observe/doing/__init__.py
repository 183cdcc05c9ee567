"""What a process that reads as an OS user can do, one file per kind of task (infra.observe.worker)."""
