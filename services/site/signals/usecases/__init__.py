"""What the site does with what visitors do.

record_signals  a micro-batch of accepted signals: rows, votes, one event for up to 100
ingest_views    page views of an access log, by the operator
prune_signals   raw signals older than 7 days go
"""
