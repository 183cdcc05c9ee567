"""The internal app: moderation queue, switches, counts, audit view, people."""
