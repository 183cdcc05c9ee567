"""What is done with fingerprints, one use case a file:

take_fingerprints   a new set is numbered and handed to the lock
"""
