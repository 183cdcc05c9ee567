"""Somebody's agent proposes something to the console, in their name: it waits there for a person (rule 28)."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from schemas.agent.v1 import AppProposed, JobProposed, RecordProposed, Wish
from schemas.text import canonical
from schemas.work import AppDeclaration, CleanupJob
from services.agent.drafting import store
from services.agent.tools.domain import Asked
from shared.clock import now
from shared.db import Tx
from shared.errors import Refused
from shared.ids import new_id

OFF = (
    "The agent may not propose anything now: an owner or admin has switched proposals off, in the console under Switches, Agent."
    " Nothing was handed in."
)
MOST_WHY = 2000


@dataclass(frozen=True)
class Draft:
    """What is proposed: one of the three. `rows`, `keys`: canonical JSON."""

    about: str
    title: str
    place: str
    declaration: AppDeclaration | None = None
    job: CleanupJob | None = None
    rows: str = ""
    keys: str = ""


async def hand_in(tx: Tx, asked: Asked, draft: Draft, why: str, *, may_propose: bool) -> UUID:
    """The proposal's id. `tx` acts for their owner. Refused while proposals are off, and for what is too large."""
    if not may_propose:
        raise Refused(OFF, code="proposals_off")
    name, event, body = _event(asked, draft, why)
    await store.add(tx, event, draft.about, draft.title, draft.place, body)
    tx.stage(name, event, key=f"proposal:{event.proposal_id}", version=1, actor=asked.me.owner.id)
    return event.proposal_id


def _event(asked: Asked, draft: Draft, why: str) -> tuple[str, Wish, dict[str, Any]]:
    base: dict[str, Any] = {
        "proposal_id": new_id(), "owner": asked.me.owner, "owner_name": asked.me.name, "conversation_id": asked.conversation_id,
        "turn_id": asked.turn_id, "why": why[:MOST_WHY], "sources": asked.tainted, "at": now(),
    }  # fmt: skip
    try:
        if draft.declaration is not None:
            return "app.proposed", AppProposed(**base, declaration=draft.declaration), draft.declaration.model_dump(mode="json")  # fmt: skip
        if draft.job is not None:
            return "job.proposed", JobProposed(**base, job=draft.job), draft.job.model_dump(mode="json")
        app, _, table = draft.place.partition(".")
        event = RecordProposed(**base, app=app, table=table, rows=draft.rows, keys=draft.keys)
    except ValidationError as error:
        first = error.errors()[0]
        raise Refused(f"That cannot be proposed: {first['msg']}.", code="proposal") from None
    return "record.proposed", event, {"app": app, "table": table, "rows": draft.rows, "keys": draft.keys}


def exact_rows(rows: list[dict[str, Any]]) -> str:
    """Canonical JSON; a figure with decimals is text, so that nothing is lost of it."""
    plain = [{name: str(value) if isinstance(value, float) else value for name, value in each.items()} for each in rows]
    try:
        return canonical(plain).decode()
    except TypeError as error:
        raise Refused(f"Rows hold text, numbers, true, false and null: {error}.", code="rows") from None
