"""What one can do with connectors.

declare_connector     a person's signed declaration, or on and off
wait_for_setting      what became of it
record_connector      the connectors say that it is in force, how it is, or that it was refused
"""
