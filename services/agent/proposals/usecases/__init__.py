"""What the agent proposes for publication (rule 20), one use case a file:

keep_move             what became of it, told to whoever it was for
"""
