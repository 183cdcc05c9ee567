"""Several verdicts are taken back with one word: each for itself, and what has moved on says so."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.console.people.domain import Caller
from services.console.queue import store
from services.console.queue.usecases.decide_item import Decided
from services.console.undo.usecases.undo_decision import undo_decision
from shared.db import Tx
from shared.errors import Conflict, Forbidden, NotFound, Refused
from shared.signing import SigningKey


@dataclass
class Undoing:
    """`refused`: (item id, title, why, code)."""

    sent: list[Decided] = field(default_factory=list)
    refused: list[tuple[str, str, str, str]] = field(default_factory=list)


async def undo_together(
    tx: Tx, key: SigningKey, caller: Caller, hashes: Sequence[str], into: Undoing, reason: str = ""
) -> None:
    """Adds to `into`. One transaction; call it with a portion, so that not too many rows are locked for long."""
    for each in hashes:
        try:
            into.sent.append(await undo_decision(tx, key, caller, each, reason))
        except (Conflict, Refused, NotFound, Forbidden) as error:
            item_id, title = await store.about(tx, each)
            into.refused.append((item_id, title, error.message, error.code))
