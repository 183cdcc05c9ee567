"""Folders that were sent as apps, and wait for a person."""
