"""Sealed secrets: their types, the folder they lie in, and opening one for a call that may use it."""
