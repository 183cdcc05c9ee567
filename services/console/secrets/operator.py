"""The operator's commands on secrets (S12). What they bring is sealed already; what they answer holds no value."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from schemas.model import Bytes64
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from services.console.secrets import views
from services.console.secrets.domain import ACTIONS, Change
from services.console.secrets.usecases.change_secret import change_secret
from services.console.secrets.usecases.wait_for_change import wait_for_change
from shared.errors import Conflict, NotFound, Refused, Transient
from shared.sealing import read_place
from shared.sealing.types import check_type
from shared.telemetry import span

Args = dict[str, Any]
PATIENCE = 30.0
_BYTES: TypeAdapter[bytes] = TypeAdapter(Bytes64)


class SecretOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "secrets.list": self.listed,
            "secrets.show": self.show,
            "secrets.change": self.change,
        }

    async def listed(self, _: Args) -> Args:
        """{"secrets": [{"place","type","state","current","public","operations","expires_at","used_at","at","by"}]}."""
        async with self._console.db.reading() as tx:
            return {"secrets": [_shown(row) for row in await views.every(tx)]}

    async def show(self, args: Args) -> Args:
        """args {"place"} → the same of one, with "versions" and "changes"."""
        place = str(read_place(str(args["place"])))
        async with self._console.db.reading() as tx:
            row, uses, changes = await views.one(tx, place), await views.uses(tx, place), await views.changes(tx, place)
        if row is None:
            raise NotFound(f"there is no secret {place}; `schleuse secrets list` shows them", code="secret_unknown")
        versions = [
            {**each, "used_at": _text(uses[each["version"]]["at"]) if each["version"] in uses else None}
            for each in row["versions"]
        ]
        return _shown(row) | {"versions": versions, "changes": [_change(each) for each in changes]}

    async def change(self, args: Args) -> Args:
        """args of Change as text → {"place", "action", "current", "state"}. Conflict when the lock or the connectors refuse."""
        wanted = _read(args)
        with span("console operator secrets.change"):
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                statement_hash = await change_secret(tx, key, OPERATOR, wanted)
        outcome, reason = await wait_for_change(self._console.db, self._console.live, statement_hash, PATIENCE)
        if outcome == "refused":
            raise Conflict(f"nothing was changed: {reason}", code="refused")
        if outcome == "sent":
            raise Transient(f"the connectors have not answered in {PATIENCE:.0f} s; it goes on by itself")
        found = await self.show({"place": str(wanted.place)})
        return {"action": wanted.action} | {name: found[name] for name in ("place", "current", "state", "operations")}


def _read(args: Args) -> Change:
    action = next((each for each in ACTIONS if each == args["action"]), None)
    if action is None:
        raise Refused(f"an action on a secret is one of {', '.join(ACTIONS)}")
    return Change(
        place=read_place(str(args["place"])),
        action=action,
        reason=str(args.get("reason") or ""),
        type=check_type(str(args["type"])) if args.get("type") else None,
        sealed=_bytes(args.get("sealed")),
        public={str(name): str(text) for name, text in dict(args.get("public") or {}).items()},
        operations=tuple(str(each) for each in args.get("operations") or ()),
        version=int(args.get("version") or 0),
        overlap=timedelta(seconds=float(args["overlap_s"])) if args.get("overlap_s") is not None else None,
        expires_at=_instant(args.get("expires_at")),
    )


def _bytes(text: Any) -> bytes | None:
    return None if text is None else _BYTES.validate_python(text)


def _instant(text: Any) -> datetime | None:
    if not text:
        return None
    found = datetime.fromisoformat(str(text))
    if found.tzinfo is None:
        raise Refused("a time needs its offset, such as 2027-01-31T00:00:00+00:00")
    return found


def _shown(row: Mapping[str, Any]) -> Args:
    same = ("place", "type", "state", "current", "public", "operations")
    times = {name: _text(row[name]) for name in ("expires_at", "used_at", "at")}
    return {name: row[name] for name in same} | times | {"by": row["by_name"], "coming": row["coming"]}


def _change(row: Mapping[str, Any]) -> Args:
    names = ("action", "version", "by_name", "reason", "outcome", "outcome_reason")
    return {name: row[name] for name in names} | {"at": _text(row["at"])}


def _text(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
