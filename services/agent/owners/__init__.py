"""Who the agent works for: people who signed in or came with a key, and guests."""
