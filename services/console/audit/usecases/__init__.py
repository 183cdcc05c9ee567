"""record_calls, record_rejection      what the connectors and the site report
record_checkpoint                     what the connectors and the lock signed about the call audit
check_chain                           recompute the copy of the call audit, a piece at a time
tell_broken                           owners and admins are told that it is no chain any more
verify_copy                           the same at once, for the operator
acknowledge_rejection                 somebody has seen it
"""
