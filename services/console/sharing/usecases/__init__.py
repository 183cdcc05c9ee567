"""What staff let the agent read, one use case a file:

share_record   a text, visitors' feedback, or an item as it is now
take_back      it may be read no more, and its text is gone at the agent
"""
