"""For tests only: real servers in a temporary state directory, made and provisioned exactly as in production."""
