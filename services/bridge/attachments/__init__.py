"""Attachments at the lock: a submission waits until all its bytes are there, and what was approved goes to the site with them (rule 5)."""
