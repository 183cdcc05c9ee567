"""Apps: declared or written in code, installed after a person's approval, their tables in a schema each (architecture 4, S4)."""
