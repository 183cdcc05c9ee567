"""Secrets as the console knows them: what there is and who decided on it, never a value. What a form brings is sealed in its request."""
