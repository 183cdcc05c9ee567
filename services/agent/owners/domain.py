"""Owners, and what their role lets them do. The owner comes from the authenticated session, never from an argument (rule 24)."""

from dataclasses import dataclass
from typing import Literal

from schemas.model import Role
from schemas.outward import Owner

AgentRole = Role | Literal["guest"]
GUESTS = Owner(kind="guest", id="guests")
"""The one account that pays for all guests together; a guest's own id never stands in the ledger (rule 22)."""


@dataclass(frozen=True)
class Me:
    """Who is being worked for. `zone` is an IANA name. `app` is how they came: `chat`, `api`."""

    owner: Owner
    name: str
    role: AgentRole
    zone: str = "UTC"
    app: str = "chat"

    @property
    def is_guest(self) -> bool:
        return self.owner.kind == "guest"

    @property
    def account(self) -> Owner:
        """Whose cap a paid call counts against."""
        return GUESTS if self.is_guest else self.owner
