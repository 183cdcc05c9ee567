"""The operator's commands on automations (S12). Recorded as `operator`."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from services.console.actions.usecases.wait_for_action import wait_for_action
from services.console.automations import store
from services.console.automations.domain import Shown, read_automation
from services.console.automations.usecases.revoke_automation import Revocation, revoke_automation
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from shared.errors import Conflict, NotFound, Transient
from shared.telemetry import span

Args = dict[str, Any]
PATIENCE = 30.0


class AutomationOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "automations.list": self.listed,
            "automations.revoke": self.revoke,
        }

    async def listed(self, args: Args) -> Args:
        """args {"all"?: also those that have ended} → {"automations": [...]}, by their next time."""
        async with self._console.db.reading() as tx:
            rows = [*await store.listed(tx), *(await store.listed(tx, ended=True) if args.get("all") else ())]
        return {"automations": [self._told(read_automation(row)) for row in rows]}

    async def revoke(self, args: Args) -> Args:
        """args {"card", "reason"} → the automation as in the list, once the agent has answered."""
        order = Revocation(_card_id(args), str(args.get("reason") or ""))
        with span("console operator automations.revoke"):
            async with self._console.db.transaction() as tx:
                statement_hash = await revoke_automation(tx, await self._console.ring.signing(tx), OPERATOR, order)
        outcome, reason = await wait_for_action(self._console.db, self._console.live, statement_hash, PATIENCE)
        if outcome == "refused":
            raise Conflict(f"nothing was changed: {reason}", code="refused")
        if outcome == "sent":
            raise Transient(f"the agent has not answered in {PATIENCE:.0f} s; it goes on by itself")
        async with self._console.db.reading() as tx:
            row = await store.one(tx, order.card_id)
        return {"card": str(order.card_id)} if row is None else self._told(read_automation(row))

    def _told(self, shown: Shown) -> Args:
        row = shown.row
        return {
            "card": str(shown.card.card_id),
            "task": str(row["task_id"]),
            "owner": str(shown.card.owner),
            "owner_name": shown.card.owner_name,
            "title": shown.title,
            "when": shown.words,
            "instruction": shown.instruction,
            "state": "revoked" if row["verdict"] == "revoke" and row["outcome"] == "applied" else shown.state,
            "reason": row["reason"],
            "zone": row["zone"],
            "next_at": row["next_at"] and row["next_at"].isoformat(),
            "allowed_by": row["allowed_by"],
            "allowed_at": row["allowed_at"] and row["allowed_at"].isoformat(),
            "url": f"{self._console.settings.url}/actions/{shown.card.card_id}",
        }


def _card_id(args: Args) -> UUID:
    try:
        return UUID(str(args["card"]))
    except ValueError:
        raise NotFound(f"there is no automation {args['card']!r}; `schleuse automations list` shows them", code="card") from None  # fmt: skip
