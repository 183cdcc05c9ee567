"""Whose words a shared record is. No framework."""

from services.agent.owners.domain import AgentRole
from services.agent.tools.domain import TRUSTED

READERS: frozenset[AgentRole] = frozenset({*TRUSTED, "moderator"})
"""Who works with what staff share. Of the others the agent keeps their own things, and no more."""
TRUSTED_SOURCE = "staff"


def source_of(source: str, title: str) -> tuple[str, ...]:
    """What a conversation has read with such a record; nothing for the staff's own words (S11)."""
    return () if source == TRUSTED_SOURCE else (f"{source}: {title}",)
