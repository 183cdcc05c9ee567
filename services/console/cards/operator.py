"""The operator's commands on cards (S12). Recorded as `operator`."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from services.console.cards import store
from services.console.cards.domain import STATES, Shown, read_card
from services.console.cards.usecases.decide_card import Order, decide_card
from services.console.cards.usecases.wait_for_decision import wait_for_decision
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from shared.clock import now
from shared.errors import Conflict, NotFound, Transient
from shared.telemetry import span

Args = dict[str, Any]
PATIENCE = 30.0


class CardOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "cards.list": self.listed,
            "cards.decide": self.decide,
        }

    async def listed(self, args: Args) -> Args:
        """args {"state"?: pending (default), allowed, refused, revoked, expired or all} → {"cards": [...]}: waiting ones first."""
        wanted = str(args.get("state") or "pending")
        async with self._console.db.reading() as tx:
            at = now()
            rows = [*await store.waiting(tx, at), *(() if wanted == "pending" else await store.settled(tx, at))]
        shown = [read_card(row, at) for row in rows]
        return {"cards": [self._told(each) for each in shown if wanted not in STATES or each.state == wanted]}

    async def decide(self, args: Args) -> Args:
        """args {"card", "verdict": allow, refuse or revoke, "reason"?} → the card as in the list, once the connectors have answered."""
        card_id = _card_id(args)
        order = Order(card_id, str(args["verdict"]), str(args.get("reason") or ""))
        with span("console operator cards.decide"):
            async with self._console.db.transaction() as tx:
                statement_hash = await decide_card(tx, await self._console.ring.signing(tx), OPERATOR, order)
        await self._answered(statement_hash)
        async with self._console.db.reading() as tx:
            row = await store.one(tx, card_id)
        assert row is not None, "it was decided"
        return self._told(read_card(row, now()))

    async def _answered(self, statement_hash: str) -> None:
        outcome, reason = await wait_for_decision(self._console.db, self._console.live, statement_hash, PATIENCE)
        if outcome == "refused":
            raise Conflict(f"nothing was changed: {reason}", code="refused")
        if outcome == "sent":
            raise Transient(f"the connectors have not answered in {PATIENCE:.0f} s; it goes on by itself")

    def _told(self, shown: Shown) -> Args:
        card, row = shown.card, shown.row
        return card.model_dump(mode="json") | {
            "state": shown.state,
            "hash": shown.hash,
            "title": shown.title,
            "secrets": [str(each) for each in card.secrets],
            "on_behalf_of": str(card.on_behalf_of) if card.on_behalf_of else None,
            "by": row["by_name"],
            "reason": row["reason"],
            "url": f"{self._console.settings.url}/cards/{card.card_id}",
        }


def _card_id(args: Args) -> UUID:
    try:
        return UUID(str(args["card"]))
    except ValueError:
        raise NotFound(f"there is no card {args['card']!r}; `schleuse cards list` shows them", code="card") from None
