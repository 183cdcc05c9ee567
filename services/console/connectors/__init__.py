"""Declared connectors: what they may reach, whether they are on, how they are, who may use them."""
