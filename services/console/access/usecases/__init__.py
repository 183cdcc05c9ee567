"""What one can do with keys of the agent's API.

create_access     a person, or the operator for somebody, makes one
revoke_access     it opens nothing any more
end_restored      after a restore none from before it does
"""
