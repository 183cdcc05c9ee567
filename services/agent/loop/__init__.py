"""A turn: from a message to a reply, through a model and its tools."""
