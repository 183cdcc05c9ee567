"""What happens to the spend copy: record_usage."""
