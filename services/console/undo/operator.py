"""`items.undo` for the operator (S12): recorded as such, and by the same rules."""

from collections.abc import Awaitable, Callable
from typing import Any

from services.console.operator import AT_ONCE, PATIENCE, find_item
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from services.console.queue.usecases.wait_for import wait_for_verdicts
from services.console.undo import views
from services.console.undo.usecases.undo_together import Undoing, undo_together
from shared.errors import NotFound, Refused
from shared.telemetry import span

Args = dict[str, Any]


class UndoOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {"items.undo": self.undo}

    async def undo(self, args: Args) -> Args:
        """args {"items": [id or kind/lang/path]} or {"last": true}, "reason" → {"undone", "refused"}.

        `last` is what the operator decided with the last call. Waits up to a minute for the lock's answers.
        """
        made = Undoing()
        with span("console operator items.undo"):
            hashes = await self._named(args, made)
            await wait_for_verdicts(self._console.db, self._console.live, hashes, PATIENCE)
            for first in range(0, len(hashes), AT_ONCE):
                async with self._console.db.transaction() as tx:
                    key = await self._console.ring.signing(tx)
                    part = hashes[first : first + AT_ONCE]
                    await undo_together(tx, key, OPERATOR, part, made, str(args.get("reason") or ""))
        refused = [{"item_id": item, "reason": why, "code": code} for item, _, why, code in made.refused]
        return await self._answers(made, refused)

    async def _named(self, args: Args, made: Undoing) -> list[str]:
        found: list[str] = []
        async with self._console.db.reading() as tx:
            if args.get("last"):
                batch = await views.last_batch(tx, OPERATOR.id)
                if batch is None:
                    raise Refused("The operator has decided nothing yet.", code="nothing")
                return await views.hashes_of(tx, batch)
            for name in args.get("items") or []:
                try:
                    newest = await views.newest_decision(tx, await find_item(tx, str(name)))
                    found += [newest] if newest else []
                    why = "" if newest else "nothing was decided on it"
                except NotFound as error:
                    why = error.message
                if why:
                    made.refused.append((str(name), "", why, "unknown_item"))
        return found

    async def _answers(self, made: Undoing, refused: list[Args]) -> Args:
        hashes = [each.statement_hash for each in made.sent]
        found = await wait_for_verdicts(self._console.db, self._console.live, hashes, PATIENCE) if hashes else {}
        done = 0
        for each in made.sent:
            outcome, reason = found.get(each.statement_hash, ("sent", ""))
            done += outcome == "applied"
            if outcome != "applied":
                why = reason if outcome == "refused" else "the lock has not answered yet; the undo is on its way"
                refused.append({"item_id": str(each.item_id), "reason": why, "code": outcome})
        return {"undone": done, "refused": refused}
