"""Access tokens of oauth2 secrets."""


class AccessTokens:
    """Fresh access tokens, one refresh at a time whatever the number of processes."""
