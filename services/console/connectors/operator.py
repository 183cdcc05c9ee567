"""The operator's commands on connectors (S12). Each returns when the connectors have answered."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from services.console.cards import store as cards
from services.console.cards.domain import read_card
from services.console.connectors import store
from services.console.connectors.domain import Declared, read_settings
from services.console.connectors.usecases.declare_connector import declare_connector
from services.console.connectors.usecases.wait_for_setting import wait_for_setting
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from shared.clock import now
from shared.errors import NotFound, Refused, Transient
from shared.telemetry import span

Args = dict[str, Any]
PATIENCE = 30.0
NO_WORD = "by the operator"


class ConnectorOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "connectors.list": self.listed,
            "connectors.declare": self.declare,
            "connectors.switch": self.switch,
        }

    async def listed(self, _: Args) -> Args:
        """{"connectors": [{"name","kind","enabled","hosts","settings","version","by","reason","at","ok","why","checked_at","grants"}]}; `ok` null: never checked."""
        async with self._console.db.reading() as tx:
            rows, at = await store.listed(tx), now()
            grants = {row["name"]: await cards.allowed(tx, row["name"]) for row in rows}
        return {"connectors": [_shown(row) | {"grants": [_grant(each, at) for each in grants[row["name"]]]} for row in rows]}  # fmt: skip

    async def declare(self, args: Args) -> Args:
        """args {"name", "kind", "settings", "enabled"?, "reason"?} → the connector as in the list. Conflict says why it was refused."""
        declared = Declared(
            str(args["name"]), str(args["kind"]), dict(args.get("settings") or {}), bool(args.get("enabled", True))
        )
        return await self._declare(declared, str(args.get("reason") or NO_WORD))

    async def switch(self, args: Args) -> Args:
        """args {"name", "on": bool, "reason"?} → the connector as in the list. Nothing is sent when it is so already."""
        name, wanted = str(args["name"]), bool(args["on"])
        held = await self._one(name)
        if held["enabled"] == wanted:
            return held
        declared = Declared(name, held["kind"], held["settings"], wanted)
        return await self._declare(declared, str(args.get("reason") or NO_WORD), held["version"])

    async def _declare(self, declared: Declared, reason: str, version: int | None = None) -> Args:
        with span("console operator connectors.declare"):
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                statement_hash = await declare_connector(tx, key, OPERATOR, declared, reason, version)
        await self._answered(statement_hash)
        return await self._one(declared.name)

    async def _answered(self, statement_hash: str) -> None:
        outcome, reason = await wait_for_setting(self._console.db, self._console.live, statement_hash, PATIENCE)
        if outcome == "refused":
            raise Refused(f"nothing was changed: {reason}", code="refused")
        if outcome == "sent":
            raise Transient(
                f"the connectors have not answered in {PATIENCE:.0f} s; it goes on by itself, see `connectors list`"
            )

    async def _one(self, name: str) -> Args:
        for each in (await self.listed({}))["connectors"]:
            if each["name"] == name:
                found: Args = each
                return found
        raise NotFound(f"there is no connector {name!r}; `schleuse connectors list` shows them", code="connector")


def _shown(row: Mapping[Any, Any]) -> Args:
    same = {name: row[name] for name in ("name", "kind", "enabled", "hosts", "version", "reason", "ok", "why")}
    times = {name: row[name].isoformat() if row[name] else None for name in ("at", "checked_at")}
    return same | times | {"settings": read_settings(row["settings"]), "by": row["by_name"]}


def _grant(row: Mapping[Any, Any], at: Any) -> Args:
    card = read_card(row, at).card
    return {
        "card": str(card.card_id),
        "asker": card.asker,
        "operations": list(card.operations),
        "hosts": list(card.hosts),
        "secrets": [str(each) for each in card.secrets],
        "by": row["by_name"],
    }
