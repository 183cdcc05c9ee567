"""keep_attachment: the lock sent what a reviewer is to see · check_complete: whether all of it is here before somebody approves."""
