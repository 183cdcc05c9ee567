"""What one can do with secrets.

change_secret      a person puts, rotates, restores, narrows or revokes one; signed
wait_for_change    until the lock and the connectors have answered
record_applied     the connectors say what counts, or that they did not take a change
record_uses        a secret was used
warn_of_expiry     owners and admins are told that the time of one runs out
"""
