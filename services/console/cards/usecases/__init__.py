"""What one can do with cards.

decide_card     a person's signed decision, or taking one back
wait_for_decision   what became of it
record_card     the connectors ask, and say what became of it
tell_card       owners and admins: somebody waits
"""
