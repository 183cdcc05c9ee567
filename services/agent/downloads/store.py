"""Registered downloads in agent_db."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, RowMapping, and_, delete, func, insert, select

from schemas.outward import Owner
from services.agent.downloads.domain import Registered
from services.agent.downloads.tables import download_places, downloads
from shared.db import Tx


async def add(tx: Tx, made: Registered, token_hash: bytes | None) -> None:
    whose = {"owner_kind": made.owner.kind, "owner_id": made.owner.id, "download_id": made.download_id}
    until = {"expires_at": made.expires_at}
    what = {"path": made.path, "name": made.name, "by_mail": made.by_mail, "version": made.version}
    await tx.execute(insert(downloads).values(whose | what | until))
    await tx.execute(insert(download_places).values(whose | until | {"token_hash": token_hash}))


async def count(tx: Tx, owner: Owner, at: datetime) -> int:
    """Links that have not expired."""
    open_ones = select(func.count()).select_from(downloads).where(_mine(owner), downloads.c.expires_at > at)
    return int(await tx.value(open_ones))


async def listed(tx: Tx, owner: Owner, at: datetime) -> Sequence[Registered]:
    """Those that have not expired, the newest first."""
    found = select(downloads).where(_mine(owner), downloads.c.expires_at > at).order_by(downloads.c.made_at.desc())
    return [_registered(row) for row in await tx.rows(found)]


async def find(tx: Tx, owner: Owner, download_id: UUID, at: datetime) -> Registered | None:
    this = and_(downloads.c.download_id == download_id, downloads.c.expires_at > at)
    row = await tx.row(select(downloads).where(_mine(owner), this))
    return None if row is None else _registered(row)


async def place_of(tx: Tx, token_hash: bytes) -> tuple[Owner, UUID] | None:
    """Whose a mailed link is, and which."""
    row = await tx.row(select(download_places).where(download_places.c.token_hash == token_hash))
    return None if row is None else (Owner(kind=row["owner_kind"], id=row["owner_id"]), row["download_id"])


async def remove(tx: Tx, owner: Owner, ids: Sequence[UUID]) -> int:
    """How many there were."""
    places = and_(download_places.c.owner_kind == owner.kind, download_places.c.owner_id == owner.id)
    await tx.execute(delete(download_places).where(places, download_places.c.download_id.in_(ids)))
    return await tx.execute(delete(downloads).where(_mine(owner), downloads.c.download_id.in_(ids)))


async def all_of(tx: Tx, owner: Owner) -> Sequence[UUID]:
    return [row["download_id"] for row in await tx.rows(select(downloads.c.download_id).where(_mine(owner)))]


async def overdue(tx: Tx, at: datetime, most: int) -> Sequence[tuple[Owner, UUID]]:
    """Expired ones of anybody, the longest expired first."""
    due = select(download_places).where(download_places.c.expires_at <= at).order_by(download_places.c.expires_at)
    rows = await tx.rows(due.limit(most))
    return [(Owner(kind=row["owner_kind"], id=row["owner_id"]), row["download_id"]) for row in rows]


async def known(tx: Tx, ids: Sequence[UUID], at: datetime) -> set[UUID]:
    """Those of them that are registered and have not expired, whoever's they are."""
    places = download_places.c
    found = select(places.download_id).where(places.download_id.in_(ids), places.expires_at > at)
    return {row["download_id"] for row in await tx.rows(found)}


def _registered(row: RowMapping) -> Registered:
    owner = Owner(kind=row["owner_kind"], id=row["owner_id"])
    named = {name: row[name] for name in ("download_id", "path", "name", "made_at", "expires_at", "by_mail", "version")}
    return Registered(owner, **named)


def _mine(owner: Owner) -> ColumnElement[bool]:
    return and_(downloads.c.owner_kind == owner.kind, downloads.c.owner_id == owner.id)
