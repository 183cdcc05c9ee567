"""Marks of files that hold text from outside, in agent_db."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, delete, literal, or_, select
from sqlalchemy.dialects.postgresql import insert

from schemas.outward import Owner
from services.agent.memory.tables import workspace_marks as marks
from shared.db import Tx


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


async def clear(tx: Tx, owner: Owner, path: str) -> None:
    """The file at that path was written anew by a conversation that had read nothing untrusted. What stood in it stays known: a backup may bring it back."""
    gone = and_(_mine(owner), marks.c.path == path)
    known = select(marks.c.owner_kind, marks.c.owner_id, literal(""), marks.c.content_hash, marks.c.sources)
    kept = insert(marks).from_select(
        ["owner_kind", "owner_id", "path", "content_hash", "sources"], known.where(gone, marks.c.content_hash != "")
    )
    await tx.execute(kept.on_conflict_do_nothing())
    await tx.execute(delete(marks).where(gone))


async def forget(tx: Tx, owner: Owner) -> int:
    return await tx.execute(delete(marks).where(_mine(owner)))


def _mine(owner: Owner) -> ColumnElement[bool]:
    return and_(marks.c.owner_kind == owner.kind, marks.c.owner_id == owner.id)
