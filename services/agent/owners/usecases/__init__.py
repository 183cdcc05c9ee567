"""What becomes of the word of the console about owners.

record_setting       a person's signed setting: in force, or refused and why
record_key           a decision key was added or revoked
record_access        a key of the API is good, or is not any more
record_delegation    the agent may act for somebody
keep_zone            the time zone that a browser names
"""
