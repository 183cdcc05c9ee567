"""What the agent proposes to the console, one use case a file:

hand_in        an app, rows or a cleanup job, in somebody's name
keep_answer    how it stands with a proposal, told to its conversation and its owner
keep_app       staff let the agent know of an app, or no more
"""
