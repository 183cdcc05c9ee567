"""Contracts between the services: envelope, catalogue, event data, signed statements."""
