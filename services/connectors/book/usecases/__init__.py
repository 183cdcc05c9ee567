"""What people decided arrives, one use case a file:

record_setting   a connector is declared, or turned on or off
record_secret    a secret is put, replaced, restored, narrowed or revoked
record_decision  a card is decided, or that is taken back
record_action    a card of the agent is decided, or that is taken back
record_key       a decision key counts from now on, or no more
"""
