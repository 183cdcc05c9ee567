"""What people do with records, one use case a file."""
