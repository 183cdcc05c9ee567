"""The console as the one identity provider: what site and workspace are told about people, and the tokens that bring them there."""
