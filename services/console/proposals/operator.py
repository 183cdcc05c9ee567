"""The operator's commands on what the agent proposes to the console (S12). Recorded as `operator`."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from schemas.text import parse_json
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from services.console.proposals import store
from services.console.proposals.domain import Row
from services.console.proposals.usecases.decide_proposal import Order, decide_proposal
from shared.errors import NotFound

Args = dict[str, Any]


class ProposalOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "proposals.list": self.listed,
            "proposals.decide": self.decide,
        }

    async def listed(self, args: Args) -> Args:
        """args {"all"?: also those that were decided} → {"proposals": [...]}."""
        async with self._console.db.reading() as tx:
            rows = [*await store.waiting(tx), *(await store.settled(tx) if args.get("all") else ())]
        return {"proposals": [self._told(row) for row in rows]}

    async def decide(self, args: Args) -> Args:
        """args {"proposal", "verdict": accept|refuse, "reason"?} → the proposal. A job takes a dry run of the last 30 minutes."""
        order = Order(_id(args), str(args.get("verdict") or ""), str(args.get("reason") or ""))
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            await decide_proposal(tx, key, OPERATOR, order, self._console.catalogue.on_changed)
            tx.after_commit(self._console.cleanup.wake)
            row = await store.one(tx, order.proposal_id)
        return self._told(row)

    def _told(self, row: Row) -> Args:
        names = ("about", "title", "owner_name", "why", "state", "reason", "decided_by")
        told = {"proposal": str(row["proposal_id"]), "app": row["app_slug"], "body": parse_json(row["body"].encode())}
        told |= {name: row[name] for name in names} | {"at": row["at"].isoformat()}
        return told | {"url": f"{self._console.settings.url}/proposals/{row['proposal_id']}"}


def _id(args: Args) -> UUID:
    try:
        return UUID(str(args["proposal"]))
    except (KeyError, ValueError):
        raise NotFound(f"there is no proposal {args.get('proposal')!r}; `schleuse proposals list` shows them", code="proposal") from None  # fmt: skip
