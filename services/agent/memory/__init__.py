"""The workspace of each owner: memory, progress, files; nothing outside it is ever read or written."""
