"""Whose words a shared record is. No framework."""

from services.agent.owners.domain import AgentRole
from services.agent.tools.domain import TRUSTED

READERS: frozenset[AgentRole] = frozenset({*TRUSTED, "moderator"})
"""Who works with what staff share. Of the others the agent keeps their own things, and no more."""
TRUSTED_SOURCE = "staff"


def titles_of(source: str, kind: str) -> tuple[str, ...]:
    """What a conversation has read with the title alone. Titles are the staff's own words, but for that of an item, which came with it."""
    return () if source == TRUSTED_SOURCE or kind != "item" else (f"{source}: titles of items",)


def source_of(source: str, title: str) -> tuple[str, ...]:
    """What a conversation has read with such a record; nothing for the staff's own words (S11)."""
    return () if source == TRUSTED_SOURCE else (f"{source}: {title}",)
