"""What the connectors do, one use case a file:

record_notes    append to the audit and publish what was appended
verify_audit    recompute the audit from its bytes
"""
