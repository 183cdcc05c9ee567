"""The operator's commands on action cards (S12). Recorded as `operator`."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from services.console.actions import store
from services.console.actions.domain import STATES, Shown, read_action
from services.console.actions.usecases.decide_action import Order, decide_action
from services.console.actions.usecases.wait_for_action import wait_for_action
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from shared.clock import now
from shared.errors import Conflict, NotFound, Transient
from shared.telemetry import span

Args = dict[str, Any]
PATIENCE = 30.0


class ActionOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "actions.list": self.listed,
            "actions.decide": self.decide,
        }

    async def listed(self, args: Args) -> Args:
        """args {"state"?: pending (default), allowed, done, failed, refused, expired, revoked or all} → {"actions": [...]}: waiting ones first."""
        wanted = str(args.get("state") or "pending")
        async with self._console.db.reading() as tx:
            at = now()
            rows = [*await store.waiting(tx, at), *(() if wanted == "pending" else await store.settled(tx, at))]
        shown = [read_action(row, at) for row in rows]
        return {"actions": [self._told(each) for each in shown if wanted not in STATES or each.state == wanted]}

    async def decide(self, args: Args) -> Args:
        """args {"card", "verdict": allow or refuse, "reason"?} → the card as in the list, once the agent has answered."""
        card_id = _card_id(args)
        order = Order(card_id, str(args["verdict"]), str(args.get("reason") or ""))
        with span("console operator actions.decide"):
            async with self._console.db.transaction() as tx:
                statement_hash = await decide_action(tx, await self._console.ring.signing(tx), OPERATOR, order)
        outcome, reason = await wait_for_action(self._console.db, self._console.live, statement_hash, PATIENCE)
        if outcome == "refused":
            raise Conflict(f"nothing was changed: {reason}", code="refused")
        if outcome == "sent":
            raise Transient(f"the agent has not answered in {PATIENCE:.0f} s; it goes on by itself")
        async with self._console.db.reading() as tx:
            row = await store.one(tx, card_id)
        assert row is not None, "it was decided"
        return self._told(read_action(row, now()))

    def _told(self, shown: Shown) -> Args:
        card, row = shown.card, shown.row
        return card.model_dump(mode="json") | {
            "state": shown.state,
            "hash": shown.hash,
            "title": shown.title,
            "owner": str(card.owner),
            "by": row["by_name"],
            "why": row["why"],
            "outcome": row["reason"] or "",
            "url": f"{self._console.settings.url}/actions/{card.card_id}",
        }


def _card_id(args: Args) -> UUID:
    try:
        return UUID(str(args["card"]))
    except ValueError:
        raise NotFound(f"there is no card {args['card']!r}; `schleuse actions list` shows them", code="card") from None
