"""Reminders and automations in the built-in model: what is understood (phrases.py), which task is meant (meant.py), and what is said of it (telling.py)."""
