"""Turns that wait and run, and what is kept of them at their end."""
