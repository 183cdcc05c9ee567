"""Backup, restore, and following the gate's log. `take` and `restore` tell the story; what runs as another OS user is in `doing`."""
