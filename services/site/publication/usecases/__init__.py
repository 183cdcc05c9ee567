"""What the site does with the gate's log.

apply_entry    an entry came: verify, append, show; or hold it until the gap before it has closed
see_head       a signed head came: compare it with our copy of the log
recover_log    at start, and when the log was touched: verify everything that is stored
sweep_rows     every second: what others did to the rows, other instances of the site included
ask_gate       ask the gate for what is missing and for a fresh head
"""
