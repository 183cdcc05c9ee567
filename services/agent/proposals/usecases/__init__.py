"""What the agent proposes for publication (rule 20), one use case a file:

propose_publication   hand an item to the lock in somebody's name, where it waits for a person
keep_move             what became of it, told to the conversation that it came from
"""
