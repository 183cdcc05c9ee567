"""Guests of the site: invited by a link that expires and can be revoked (rule 27)."""
