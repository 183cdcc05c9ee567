"""Switches that a person sees and sets: publication mode, site mode, four eyes."""
