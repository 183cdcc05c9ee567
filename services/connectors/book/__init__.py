"""What people decided about the way out, as signed statements: declared connectors, secrets, cards."""
