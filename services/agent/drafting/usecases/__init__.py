"""What the agent proposes to the console, one use case a file:

keep_answer    how it stands with a proposal, told to its conversation and its owner
keep_app       staff let the agent know of an app, or no more
"""
