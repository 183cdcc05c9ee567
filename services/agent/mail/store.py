"""Statements over mail accounts. Every one names the owner, though row security would hold it to that anyway."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.console.v1 import MailAccountStated
from schemas.outward import Owner
from services.agent.mail.domain import MailAccount
from shared.db import Tx

_MINE = "owner_kind = $1 AND owner_id = $2"
_KEEP = """
INSERT INTO core.email_accounts AS a
  (owner_kind, owner_id, account_id, label, connector, secret, address, reads, sends, deleted_at, at, version)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL, $10, $11)
ON CONFLICT (owner_kind, owner_id, account_id) DO UPDATE SET label = $4, connector = $5, secret = $6, address = $7, reads = $8,
  sends = $9, at = $10, version = $11
WHERE a.version < $11"""
_CLOSE = f"""UPDATE core.email_accounts SET deleted_at = $4
  WHERE {_MINE} AND account_id = $3 AND deleted_at IS NULL"""  # noqa: S608
_NEWER = f"UPDATE core.email_accounts SET version = $4 WHERE {_MINE} AND account_id = $3 AND version < $4"  # noqa: S608
_COLUMNS = "account_id, label, connector, secret, address, reads, sends, deleted_at"
_OPEN = f"SELECT {_COLUMNS} FROM core.email_accounts WHERE {_MINE} AND deleted_at IS NULL ORDER BY label, account_id"  # noqa: S608
_DROP = f"DELETE FROM core.email_accounts WHERE {_MINE}"  # noqa: S608


async def keep(tx: Tx, stated: MailAccountStated) -> None:
    """The newest word counts; what was deleted stays so."""
    owner = stated.owner
    await tx.raw.execute(
        _KEEP, owner.kind, owner.id, stated.account_id, stated.label, stated.connector, stated.secret, stated.address,
        stated.reads, stated.sends, stated.at, stated.version,
    )  # fmt: skip


async def close(tx: Tx, owner: Owner, account_id: UUID, at: datetime) -> bool:
    """False when there is none, or none any more."""
    return str(await tx.raw.execute(_CLOSE, owner.kind, owner.id, account_id, at)).endswith(" 1")


async def note_version(tx: Tx, owner: Owner, account_id: UUID, version: int) -> None:
    """An older word that comes later is older than the one that deleted it."""
    await tx.raw.execute(_NEWER, owner.kind, owner.id, account_id, version)


async def open_ones(tx: Tx, owner: Owner) -> Sequence[MailAccount]:
    """By label."""
    return [_account(row) for row in await tx.raw.fetch(_OPEN, owner.kind, owner.id)]


async def drop(tx: Tx, owner: Owner) -> int:
    return int(str(await tx.raw.execute(_DROP, owner.kind, owner.id)).rpartition(" ")[2])


def _account(row: Any) -> MailAccount:
    return MailAccount(**dict(row))
