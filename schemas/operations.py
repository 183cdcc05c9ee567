"""What each kind of connector can do: the words that a delegation names its operations by (S10). A test compares them with the connectors' own."""

OPERATIONS: dict[str, tuple[str, ...]] = {
    "http": ("delete", "get", "head", "options", "patch", "post", "put"),
    "llm": ("chat", "count_tokens", "embeddings", "messages", "models", "responses"),
    "mail": ("attachment", "flag", "folders", "list", "move", "read", "search", "send"),
}
OWN_AUDIT = "audit.search"
"""To look for what was done on somebody's behalf."""
