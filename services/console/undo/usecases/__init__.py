"""Taking back.

undo_decision       one verdict of the last ten minutes
undo_together       several, each for itself: what has moved on stays
"""
