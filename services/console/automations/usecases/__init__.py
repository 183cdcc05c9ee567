"""What the console does about automations.

record_automation    the agent says how it stands with one
"""
