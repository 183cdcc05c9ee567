"""What one can do with cards.

decide_card     a person's signed decision, or taking one back
record_card     the connectors ask, and say what became of it
tell_card       owners and admins: somebody waits
"""
