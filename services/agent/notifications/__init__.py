"""What an owner is told outside a conversation: stored until it is read, and a toast in every open page."""
