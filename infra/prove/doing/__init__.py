"""What an attacker's process does, one file per kind of attempt. Runs as that attacker's OS user (infra.prove.actor)."""
