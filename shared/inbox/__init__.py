"""Inbox: each event has its effect once, in the transaction that records that it had it."""
