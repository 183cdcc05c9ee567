"""What an owner does with tasks, and what becomes of their runs: add_task, change_task, pause_task, resume_task, end_task, begin_run, end_run."""
