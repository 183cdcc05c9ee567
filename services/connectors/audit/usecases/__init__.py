"""What is done with the audit, one use case a file:

record_notes     append to the audit and publish what was appended
close_lost       calls that a process left without an end get one
sign_checkpoint  sign how long the audit is, and what it hashes to
record_witness   the lock has countersigned that
verify_audit     recompute the audit from its bytes
search_audit     find entries
"""
