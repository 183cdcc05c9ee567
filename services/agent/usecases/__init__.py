"""What the agent does, one use case a file:

propose_item    hand an item to the lock, where it waits for a person
keep_card       what became of a card that it waits for
"""
