"""What one can do with switches.

set_switch                          a person's signed setting
record_switch                       the lock says that it is in force, or refused it
"""
