"""What one can do in the queue.

submit_item                         hand an item or a revision to the lock
decide_item, withdraw_item          a person's signed word on it
record_queued, record_moved,
record_refused, record_applied      what the lock and the site say happened
wait_for                            until the lock has answered
"""
