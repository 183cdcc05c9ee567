"""What the connectors do, one use case a file:

record_call     append a call to the audit and publish it
verify_audit    recompute the audit from its bytes
"""
