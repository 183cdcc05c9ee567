"""What can be done with the agent's proposals.

record_proposal    the agent proposes an app, rows or a job; who may decide is told
decide_proposal    a person accepts or refuses; accepted, it is carried out
answer_proposal    the agent is told how it stands
"""
