"""What visitors did, counted."""
