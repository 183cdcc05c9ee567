"""Mail accounts in console_db. Whoever asks for one says whose it is (rule 24)."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import RowMapping

from services.console.connectors.tables import connectors
from services.console.mail.domain import SIDES, Account
from services.console.mail.tables import mail_accounts as accounts
from services.console.people.tables import people
from services.console.secrets.tables import secret_changes, secrets
from shared.db import Tx

_FIELDS = (
    "account_id", "person_id", "label", "connector", "secret", "address", "reads", "sends", "version", "deleted_at",
)  # fmt: skip


async def lock_person(tx: Tx, person_id: UUID) -> bool:
    """Two changes of one person's accounts come one after the other. False when there is no such person."""
    row = select(people.c.id).where(people.c.id == person_id).with_for_update(key_share=True)
    return await tx.value(row) is not None


async def add(tx: Tx, account: Account, at: datetime) -> None:
    row = {name: getattr(account, name) for name in _FIELDS}
    await tx.execute(insert(accounts).values(row | {"at": at}))


async def mine(tx: Tx, person_id: UUID) -> list[Account]:
    """Those that were not deleted, by label."""
    found = select(accounts).where(accounts.c.person_id == person_id, accounts.c.deleted_at.is_(None))
    return [_account(row) for row in await tx.rows(found.order_by(func.lower(accounts.c.label)))]


async def one(tx: Tx, person_id: UUID, account_id: UUID) -> Account | None:
    """None for another person's, as for what never was, and for one that was deleted."""
    found = select(accounts).where(accounts.c.person_id == person_id, accounts.c.account_id == account_id)
    row = await tx.row(found.where(accounts.c.deleted_at.is_(None)).with_for_update())
    return None if row is None else _account(row)


async def close(tx: Tx, account: Account, at: datetime) -> int:
    """Its new version."""
    row = update(accounts).where(accounts.c.account_id == account.account_id)
    changed = row.values(deleted_at=at, at=at, version=accounts.c.version + 1)
    return int(await tx.value(changed.returning(accounts.c.version)))


async def mail_connectors(tx: Tx) -> Sequence[RowMapping]:
    """name, hosts, enabled; those that are on first."""
    found = select(connectors.c.name, connectors.c.hosts, connectors.c.enabled).where(connectors.c.kind == "mail")
    return await tx.rows(found.order_by(connectors.c.enabled.desc(), connectors.c.name))


async def secrets_of(tx: Tx, places: Sequence[str]) -> dict[str, RowMapping]:
    """What the connectors say of them, by place: state, current, public, version."""
    return {row["place"]: row for row in await tx.rows(select(secrets).where(secrets.c.place.in_(places)))}


async def coming(tx: Tx, places: Sequence[str]) -> dict[str, RowMapping]:
    """The newest change of each place, by place: outcome, outcome_reason."""
    found = select(secret_changes).where(secret_changes.c.place.in_(places)).order_by(secret_changes.c.at)
    return {row["place"]: row for row in await tx.rows(found)}


async def unrevoked(tx: Tx, limit: int) -> Sequence[RowMapping]:
    """Secrets of deleted accounts that open something still, and nothing about them is on its way: place, person_id, and the person's name and role.
    The accounts are locked; what another instance works at is left out."""
    stem = func.concat("agent/", accounts.c.connector, "/user:", accounts.c.person_id, "/", accounts.c.secret)
    on_its_way = exists().where(secret_changes.c.place == secrets.c.place, secret_changes.c.outcome == "sent")
    found = (
        select(secrets.c.place, accounts.c.person_id, people.c.name, people.c.role)
        .join(secrets, secrets.c.place.in_([func.concat(stem, f"-{side}") for side in SIDES]))
        .join(people, people.c.id == accounts.c.person_id)
        .where(accounts.c.deleted_at.is_not(None), secrets.c.state != "revoked", ~on_its_way)
    )
    return await tx.rows(found.limit(limit).with_for_update(of=accounts, skip_locked=True))


def _account(row: RowMapping) -> Account:
    return Account(**{name: row[name] for name in _FIELDS})
