"""What the queue's pages, the API and the operator read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, not_, or_, select, true
from sqlalchemy.engine import RowMapping

from services.console.queue.domain import OPEN_STATES, UNANSWERED, check_state
from services.console.queue.tables import decisions, history, items, revisions, submissions
from shared.clock import now
from shared.db import Tx

PAGE = 50


@dataclass(frozen=True)
class Filter:
    """What the list shows. `state`: open, all, or one state; `findings`: any, none, some, block."""

    state: str = "open"
    kind: str = ""
    lang: str = ""
    findings: str = ""
    q: str = ""
    page: int = 1


def wanted(by: Filter) -> ColumnElement[bool]:
    """What fits the filter."""
    parts: list[ColumnElement[bool]] = [true()]
    if by.state == "open":
        parts.append(items.c.state.in_(OPEN_STATES))
    elif by.state not in {"", "all"}:
        check_state(by.state)
        parts.append(items.c.state == by.state)
    if by.kind:
        parts.append(items.c.kind == by.kind)
    if by.lang:
        parts.append(items.c.lang == by.lang)
    if by.q:
        text = func.lower(items.c.title + " " + items.c.path + " " + items.c.by_name)
        parts.append(func.strpos(text, by.q.lower()) > 0)
    return and_(*parts, *_by_findings(by.findings))


def _by_findings(findings: str) -> list[ColumnElement[bool]]:
    some = or_(items.c.blocks > 0, items.c.checks > 0)
    return {"none": [not_(some)], "some": [some], "block": [items.c.blocks > 0]}.get(findings, [])


async def list_items(tx: Tx, by: Filter, *, limit: int | None = PAGE) -> Sequence[RowMapping]:
    """Oldest first: who waits longest is looked at first. `about_title`: of a comment, the title of its item."""
    page = items.alias()
    about = select(page.c.title).where(page.c.item_id == items.c.about).scalar_subquery().label("about_title")
    found = select(items, about).where(wanted(by)).order_by(items.c.queued_at, items.c.item_id)
    return await tx.rows(found if limit is None else found.limit(limit).offset((by.page - 1) * limit))


async def count_items(tx: Tx, by: Filter) -> int:
    return int(await tx.value(select(func.count()).select_from(items).where(wanted(by))))


def waiting() -> ColumnElement[bool]:
    """No decision is on its way, or one that the lock has not answered for a minute."""
    answered = or_(items.c.deciding.is_(None), items.c.decided_at <= now() - UNANSWERED)
    return and_(items.c.state == "submitted", answered)


async def count_waiting(tx: Tx) -> int:
    return int(await tx.value(select(func.count()).select_from(items).where(waiting())))


async def pending_ids(tx: Tx) -> list[UUID]:
    """Items that wait for a decision and are not blocked, oldest first."""
    found = select(items.c.item_id).where(waiting(), items.c.blocks == 0)
    return [row["item_id"] for row in await tx.rows(found.order_by(items.c.queued_at, items.c.item_id))]


async def count_by_author(tx: Tx, person_id: str) -> tuple[int, int]:
    """Waiting items: all, and those that this person submitted."""
    mine = func.count().filter(items.c.by_id == person_id)
    row = await tx.row(select(func.count().label("n"), mine.label("mine")).where(items.c.state == "submitted"))
    return (int(row["n"]), int(row["mine"])) if row else (0, 0)


async def languages(tx: Tx) -> list[str]:
    return [row["lang"] for row in await tx.rows(select(items.c.lang).distinct().order_by(items.c.lang))]


async def item(tx: Tx, item_id: UUID) -> RowMapping | None:
    return await tx.row(select(items).where(items.c.item_id == item_id))


async def items_by_id(tx: Tx, ids: Sequence[UUID]) -> Sequence[RowMapping]:
    found = select(items).where(items.c.item_id.in_(ids))
    return await tx.rows(found.order_by(items.c.queued_at, items.c.item_id))


async def find_item(tx: Tx, name: str) -> UUID | None:
    """An item by `kind/lang/path`."""
    kind, _, rest = name.partition("/")
    lang, _, path = rest.partition("/")
    place = (items.c.kind == kind) & (items.c.lang == lang) & (items.c.path == path)
    found: UUID | None = await tx.value(select(items.c.item_id).where(place))
    return found


async def revision(tx: Tx, item_id: UUID, number: int) -> RowMapping | None:
    return await tx.row(select(revisions).where(revisions.c.item_id == item_id, revisions.c.revision == number))


async def revision_list(tx: Tx, item_id: UUID) -> Sequence[RowMapping]:
    wanted = [column for column in revisions.c if column.name != "content"]
    return await tx.rows(select(*wanted).where(revisions.c.item_id == item_id).order_by(revisions.c.revision.desc()))


async def item_history(tx: Tx, item_id: UUID) -> Sequence[RowMapping]:
    """Newest first, each with its revision's content hash, the times that its decision named, and what an undo took back."""
    beside = and_(revisions.c.item_id == history.c.item_id, revisions.c.revision == history.c.revision)
    found = select(
        history, revisions.c.content_hash, decisions.c.publish_at, decisions.c.expire_at, decisions.c.undoes
    ).outerjoin(revisions, beside)
    found = found.outerjoin(decisions, decisions.c.statement_hash == history.c.statement_hash)
    return await tx.rows(found.where(history.c.item_id == item_id).order_by(history.c.version.desc()))


async def item_decisions(tx: Tx, item_id: UUID) -> Sequence[RowMapping]:
    found = select(decisions).where(decisions.c.item_id == item_id)
    return await tx.rows(found.order_by(decisions.c.at.desc()))


async def submission(tx: Tx, submission_id: UUID) -> RowMapping | None:
    return await tx.row(select(submissions).where(submissions.c.submission_id == submission_id))


async def submitted_at(tx: Tx, submission_id: UUID) -> datetime | None:
    at: datetime | None = await tx.value(select(submissions.c.at).where(submissions.c.submission_id == submission_id))
    return at


async def refused_submissions(tx: Tx, limit: int = 10) -> Sequence[RowMapping]:
    found = select(submissions).where(submissions.c.state == "refused")
    return await tx.rows(found.order_by(submissions.c.at.desc()).limit(limit))


async def published_places(tx: Tx) -> set[tuple[str, str, str]]:
    """(kind, lang, path) of everything that the lock has published: what a link may lead to."""
    found = select(items.c.kind, items.c.lang, items.c.path).where(
        items.c.published_revision.is_not(None), items.c.about.is_(None), items.c.audience != "link"
    )
    return {(row["kind"], row["lang"], row["path"]) for row in await tx.rows(found)}


async def count_reached(tx: Tx, ids: Sequence[UUID], until: str) -> int:
    """How many of the items are live (or gone, or public by the lock's word, or in the state `until`)."""
    reached: dict[str, Any] = {
        "public": items.c.published_revision.is_not(None),
        "live": and_(items.c.live_revision.is_not(None), items.c.live_revision == items.c.published_revision),
        "gone": and_(items.c.gone_since.is_not(None), items.c.published_revision.is_(None)),
    }
    test: Select[Any] = select(func.count()).select_from(items).where(items.c.item_id.in_(ids))
    return int(await tx.value(test.where(reached.get(until, items.c.state == until))))
