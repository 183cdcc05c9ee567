"""A person accepts or refuses what the agent proposes. Accepted, it is carried out in the same transaction; the agent is told."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from services.console.apps.usecases.create_plain import create_plain
from services.console.apps.usecases.share_app import restate_app, state_app
from services.console.apps.views import find_app, get_app
from services.console.jobs.domain import Wanted
from services.console.jobs.usecases.set_job import set_job
from services.console.people.domain import Caller
from services.console.proposals import store
from services.console.proposals.domain import Rows, Shown, check_answerable, merged
from services.console.proposals.usecases.answer_proposal import answer_proposal
from services.console.records.domain import write_key
from services.console.records.usecases.add_records import add_records
from services.console.records.usecases.change_record import change_record
from shared.db import Tx
from shared.errors import NotFound, Refused
from shared.signing import SigningKey


@dataclass(frozen=True)
class Order:
    """`dry_run_id`: of a job, the dry run that was seen; None takes the newest (operator)."""

    proposal_id: UUID
    verdict: str
    reason: str = ""
    dry_run_id: UUID | None = None


async def decide_proposal(
    tx: Tx, key: SigningKey, caller: Caller, order: Order, on_changed: Callable[[str], None] | None = None
) -> None:
    """Refused, Conflict or NotFound in words when it cannot be carried out; then it waits as before."""
    row = await store.one(tx, order.proposal_id, lock=True)
    reason = check_answerable(caller, row, order.verdict, order.reason)
    assert row is not None, "checked"
    shown = Shown(row)
    if shown.about == "job":
        setting = "on" if order.verdict == "accept" else "off"
        await set_job(tx, key, caller, Wanted(order.proposal_id, setting, reason, order.dry_run_id))
        return
    if order.verdict == "refuse":
        await answer_proposal(tx, order.proposal_id, "refused", reason=reason, by=caller)
        return
    if shown.about == "app":
        await _make_app(tx, key, caller, shown, reason, on_changed)
    else:
        await _write_rows(tx, caller, shown.rows)
    await answer_proposal(tx, order.proposal_id, "accepted", reason=reason, by=caller)


async def _make_app(tx: Tx, key: SigningKey, caller: Caller, shown: Shown, reason: str, on_changed: Callable[[str], None] | None) -> None:  # fmt: skip
    declaration = shown.declaration
    before = await find_app(tx, declaration.slug)
    if before is not None:
        declaration = merged(before.declaration, declaration)
    app = await create_plain(tx, declaration, caller, key, reason=reason, on_changed=on_changed)
    if before is None:  # what it proposed itself it may know
        await state_app(tx, app, shared=True, actor=caller.name)
    else:
        await restate_app(tx, declaration.slug, caller.name)


async def _write_rows(tx: Tx, caller: Caller, wanted: Rows) -> None:
    app = await get_app(tx, wanted.app)
    texts = [{name: _text(value) for name, value in each.items()} for each in wanted.rows]
    if not wanted.keys:
        await add_records(tx, app, wanted.table, texts, caller, "agent")
        return
    table = app.table(wanted.table)
    if table is None:
        raise NotFound(f"The app {app.slug} has no table {wanted.table}.", code="table")
    names = table.key or ("id",)
    for key, values in zip(wanted.keys, texts, strict=True):
        if set(key) != set(names):
            raise Refused(f"A row of {wanted.table} is named by {', '.join(names)}; this proposal names {', '.join(key) or 'nothing'}.", code="keys")  # fmt: skip
        named = write_key([_text(key[name]) or "" for name in names])
        await change_record(tx, app, wanted.table, named, values, caller, "agent")


def _text(value: object) -> str | None:
    """What a person would type for it; nothing for null (rule 30)."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
