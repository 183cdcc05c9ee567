"""Statements over the lease of the task loop. On a connection of its own, each by itself: nothing is ever held open (SC-09)."""

from dataclasses import dataclass

from shared.db.raw import Raw

_READ = "SELECT holder, part, fence, beat, expires_at <= clock_timestamp() AS over FROM core.task_lease"
_FIRST = "INSERT INTO core.task_lease (one, holder, part) VALUES (1, $1, $2) ON CONFLICT DO NOTHING RETURNING fence"
_TAKE = """
UPDATE core.task_lease SET holder = $1, part = $2, fence = fence + 1
WHERE fence = $3 AND beat = $4 AND ($5 OR expires_at <= clock_timestamp()) RETURNING fence"""
_RENEW = "UPDATE core.task_lease SET holder = holder WHERE holder = $1 AND fence = $2 RETURNING fence"
_HAND_BACK = "UPDATE core.task_lease SET holder = '' WHERE holder = $1 AND fence = $2 RETURNING fence"


@dataclass(frozen=True)
class Lease:
    """`over`: by the database's clock. `beat` moves whenever it is renewed."""

    holder: str
    part: str
    fence: int
    beat: int
    over: bool


async def read(connection: Raw) -> Lease | None:
    row = await connection.fetchrow(_READ)
    return None if row is None else Lease(*row)


async def take_first(connection: Raw, holder: str, part: str) -> int | None:
    """The fence of the very first lease; None when there has been one."""
    found: int | None = await connection.fetchval(_FIRST, holder, part)
    return found


async def take(connection: Raw, holder: str, part: str, seen: Lease, *, dead: bool) -> int | None:
    """The fence, one above the one seen; None when it is not over, or somebody was quicker. `dead`: whoever holds it shows no life."""
    found: int | None = await connection.fetchval(_TAKE, holder, part, seen.fence, seen.beat, dead)
    return found


async def renew(connection: Raw, holder: str, fence: int) -> bool:
    """False when it has moved on."""
    return await connection.fetchval(_RENEW, holder, fence) is not None


async def hand_back(connection: Raw, holder: str, fence: int) -> bool:
    """Whoever stands by takes it at once."""
    return await connection.fetchval(_HAND_BACK, holder, fence) is not None
