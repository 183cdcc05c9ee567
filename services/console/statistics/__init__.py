"""What moderators decided, and how long it took: one's own figures, and everybody's for owners and admins."""
