"""The moderation queue as the console sees it: items, revisions, claims, decisions."""
