"""Files that become records: read, tried without effect, then all in one transaction; and records as files again."""
