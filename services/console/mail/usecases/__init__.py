"""What can be done with one's own mail accounts.

add_account          with its sealed secrets; the agent is told of it, without them
change_password      new versions of its secrets; the old ones open nothing any more
remove_account       gone for the agent at once
close_account        the same, because its owner asked the agent for it
revoke_left          and the secrets of what is gone are revoked
"""
