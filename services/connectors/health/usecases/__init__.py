"""What becomes of a check, one use case a file:

record_check   it was asked whether a connector answers
"""
