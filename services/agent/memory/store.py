"""Marks of files that hold text from outside, in agent_db."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, delete, func, literal, or_, select
from sqlalchemy.dialects.postgresql import insert

from schemas.outward import Owner
from services.agent.memory.tables import workspace_marks as marks
from shared.db import Tx

COPIED = ("owner_kind", "owner_id", "path", "content_hash", "sources")


async def mark(tx: Tx, owner: Owner, path: str, content_hash: str, sources: Sequence[str]) -> None:
    row = {"owner_kind": owner.kind, "owner_id": owner.id, "path": path, "content_hash": content_hash}
    fresh = insert(marks).values(row | {"sources": list(sources)})
    await tx.execute(fresh.on_conflict_do_update(index_elements=list(row), set_={"sources": fresh.excluded.sources}))


async def sources_of(tx: Tx, owner: Owner, path: str, content_hash: str) -> tuple[str, ...]:
    """Where untrusted text in this file came from; empty when there is none."""
    same = and_(marks.c.content_hash == content_hash, marks.c.content_hash != "")
    this = or_(marks.c.path == path, same)
    rows = await tx.rows(select(marks.c.sources).where(_mine(owner), this).order_by(marks.c.at))
    return tuple(dict.fromkeys(source for row in rows for source in row["sources"]))


async def marked_paths(tx: Tx, owner: Owner) -> set[str]:
    return {row["path"] for row in await tx.rows(select(marks.c.path).where(_mine(owner)))}


async def is_marked(tx: Tx, owner: Owner, path: str) -> bool:
    """Whether that file, or one in that folder, holds text from outside."""
    return await tx.row(select(marks.c.path).where(_mine(owner), _at(path, below=True)).limit(1)) is not None


async def carry(tx: Tx, owner: Owner, old: str, new: str) -> None:
    """What is known of a file, or of those in a folder, is known under its new path, too."""
    path = literal(new).concat(func.substr(marks.c.path, len(old) + 1))
    known = select(marks.c.owner_kind, marks.c.owner_id, path, marks.c.content_hash, marks.c.sources)
    kept = insert(marks).from_select(COPIED, known.where(_mine(owner), _at(old, below=True)))
    await tx.execute(kept.on_conflict_do_nothing())


async def clear(tx: Tx, owner: Owner, path: str, *, below: bool = False) -> None:
    """That path holds nothing from outside any more (with `below` nor do those in that folder). What stood there stays known: a backup may bring it back."""
    gone = and_(_mine(owner), _at(path, below=below))
    known = select(marks.c.owner_kind, marks.c.owner_id, literal(""), marks.c.content_hash, marks.c.sources)
    kept = insert(marks).from_select(COPIED, known.where(gone, marks.c.content_hash != ""))
    await tx.execute(kept.on_conflict_do_nothing())
    await tx.execute(delete(marks).where(gone))


async def vouch(tx: Tx, owner: Owner, path: str, content_hash: str) -> None:
    """The owner says of this file and of this content that it is theirs."""
    this = or_(marks.c.path == path, marks.c.content_hash == content_hash)
    await tx.execute(delete(marks).where(_mine(owner), this))


async def forget(tx: Tx, owner: Owner) -> int:
    return await tx.execute(delete(marks).where(_mine(owner)))


def _mine(owner: Owner) -> ColumnElement[bool]:
    return and_(marks.c.owner_kind == owner.kind, marks.c.owner_id == owner.id)


def _at(path: str, *, below: bool) -> ColumnElement[bool]:
    inside = marks.c.path.startswith(path + "/", autoescape=True)
    return or_(marks.c.path == path, inside) if below else marks.c.path == path
