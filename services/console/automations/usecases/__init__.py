"""What the console does about automations.

record_automation    the agent says how it stands with one
renew_automations    the agent may act for those that were allowed, for another half day
revoke_automation    a person takes one back
"""
