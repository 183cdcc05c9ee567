"""What visitors fill into the form of an item: for staff alone."""
