"""What one can do with action cards.

decide_action     a person's signed decision
wait_for_action   what became of it
record_action     the agent asks, and says what became of a card
tell_action       who may decide is told that something waits
"""
