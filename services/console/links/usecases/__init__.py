"""What one can do with share links.

open_link, close_link   a person's signed word
record_link             the lock says that it is in force, or refused it
wait_for_link           until the lock has answered
count_views             visitors came by a link
"""
