"""What can be done with downloads."""
