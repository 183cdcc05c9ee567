"""What delivery keeps of somebody: parked events and what was sent in the last days. Cleared when their subject is to be forgotten (S15)."""

from typing import Any

from shared.db.engine import Database
from shared.errors import Refused

SHORTEST, LONGEST = 3, 500
_PARKED = (
    "FROM app.parked WHERE position($1::bytea in body) > 0 OR position($1::bytea in coalesce(part, ''::bytea)) > 0"
)
_SENT = "FROM app.outbox o WHERE position($1::bytea in body) > 0 AND NOT EXISTS (SELECT FROM app.todo t WHERE t.position = o.position)"
_WAITS = "FROM app.outbox o WHERE position($1::bytea in body) > 0 AND EXISTS (SELECT FROM app.todo t WHERE t.position = o.position)"


class ForgetDesk:
    """The verb `delivery.forget`, the same in every service. What was not sent yet stays until it was: it is somebody's word on its way."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def forget(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"text", "really"?} -> {"parked", "outbox", "waiting"}: rows that hold the text; without `really` they are only counted. The inbox holds ids alone."""
        needle = check_subject(args.get("text")).encode()
        really = args.get("really") is True
        async with self._db.transaction() as tx:
            waiting = int(await tx.raw.fetchval(f"SELECT count(*) {_WAITS}", needle))
            found = {"waiting": waiting}
            for name, rows in (("parked", _PARKED), ("outbox", _SENT)):
                if really:
                    found[name] = int((await tx.raw.execute(f"DELETE {rows}", needle)).split()[-1])
                else:
                    found[name] = int(await tx.raw.fetchval(f"SELECT count(*) {rows}", needle))
        return found


def check_subject(text: object) -> str:
    """A name, an address, a pseudonym: what stands for somebody. Refused when it is so short that it stands for everybody."""
    found = str(text or "").strip()
    if not SHORTEST <= len(found) <= LONGEST:
        raise Refused(
            f"say whom to forget in {SHORTEST} to {LONGEST} characters, such as a mail address", code="subject"
        )
    return found
