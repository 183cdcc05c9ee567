"""Where people and programs talk with the agent: the chat page, its live stream, the API. What they may and what it costs is decided elsewhere."""
