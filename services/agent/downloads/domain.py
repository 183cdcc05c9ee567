"""Registered downloads: what may be registered, for how long, and what a link looks like. No framework."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from urllib.parse import quote
from uuid import UUID

from schemas.outward import Owner
from shared.errors import NotFound, Refused

PAGES, MAILED = "/downloads/", "/d/"
"""Where a link of an owner's own begins, and one that works for whoever has it."""
LIFE, MAILED_LIFE = timedelta(days=1), timedelta(days=7)
LONGEST, SHORTEST = timedelta(days=30), timedelta(minutes=1)
MOST = 500
"""Links of one owner that have not expired."""


@dataclass(frozen=True)
class Link:
    """`url` is absolute. `name` is what whoever downloads sees."""

    url: str
    expires_at: datetime
    name: str
    download_id: UUID
    by_mail: bool = False


@dataclass(frozen=True)
class Registered:
    """A file of `owner`'s that may be fetched until `expires_at`. `path` is never shown to whoever fetches it. `version`: the only one that may be fetched;
    empty: whichever is there."""

    owner: Owner
    download_id: UUID
    path: str
    name: str
    made_at: datetime
    expires_at: datetime
    by_mail: bool
    version: str = ""


@dataclass(frozen=True)
class Opened:
    """An open file of a workspace; whoever gets it closes `descriptor`. `changed` in nanoseconds since 1970."""

    descriptor: int
    size: int
    changed: int
    inode: int = 0

    @property
    def version(self) -> str:
        """Another one once something was written into the file, or another lies under its name."""
        return f"{self.size} {self.changed}"


class Opening(Protocol):
    """Opens plain files of one owner's workspace. NotFound for whatever is none, or may not be read."""

    async def open(self, owner: Owner, path: str) -> Opened: ...


def missing() -> NotFound:
    """One answer to everything that is no registered file: never registered, expired, taken back, somebody else's, or deleted."""
    return NotFound("There is no such download. It may have expired, or the file is gone.", code="download")


def check_life(life: timedelta | None, *, by_mail: bool) -> timedelta:
    """Refused when it is shorter than a minute or longer than 30 days."""
    if life is None:
        return MAILED_LIFE if by_mail else LIFE
    if not SHORTEST <= life <= LONGEST:
        raise Refused(f"A link lives from one minute to {LONGEST.days} days.", code="life")
    return life


def own_path(download_id: UUID, name: str) -> str:
    """The address below the workspace's, for its owner while they are signed in."""
    return f"{PAGES}{download_id}/{quote(name, safe='')}"


def mailed_path(token: str, name: str) -> str:
    """As it is signed: not encoded."""
    return f"{MAILED}{token}/{name}"
