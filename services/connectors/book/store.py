"""The book's rows."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from schemas.outward import Card
from schemas.statements import Opening, Signed
from shared.db import Tx

_LOCK = "SELECT pg_advisory_xact_lock(7305814203)"
_ADD = """
INSERT INTO core.statements (purpose, subject, statement, signature, key_id, statement_hash, person_id, person_name, via, reason, nonce)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING position"""
_AFTER = """
SELECT position, purpose, statement, signature, key_id, person_id, person_name, via, reason, nonce FROM core.statements
WHERE position > $1 ORDER BY position"""
_HAS = "SELECT EXISTS (SELECT FROM core.statements WHERE statement_hash = $1)"
_ADD_CARD = "INSERT INTO core.cards (card_id, card, card_hash) VALUES ($1, $2, $3)"
_CARDS = """
SELECT card, card_hash FROM core.cards c
WHERE NOT EXISTS (SELECT FROM unnest($1::uuid[]) AS known WHERE known = c.card_id)"""
_EXTENT = """
SELECT (SELECT coalesce(max(position), 0) FROM core.statements) AS newest, (SELECT count(*) FROM core.cards) AS cards"""


async def extent(tx: Tx) -> tuple[int, int]:
    """(position of the newest statement, how many cards there are)."""
    row = await tx.raw.fetchrow(_EXTENT)
    assert row is not None
    return row["newest"], row["cards"]


async def lock_book(tx: Tx) -> None:
    """Nobody else adds a statement until this transaction ends: positions are the order in which statements count."""
    await tx.raw.execute(_LOCK)


async def add_statement(tx: Tx, purpose: str, subject: str, signed: Signed, opening: Opening | None) -> int:
    """Its position."""
    said = ("", "", "", "", "") if opening is None else (
        opening.person_id, opening.person_name, opening.via, opening.reason, opening.nonce
    )  # fmt: skip
    row = (purpose, subject, signed.payload, signed.signature, signed.key_id, signed.hash, *said)
    return int(await tx.raw.fetchval(_ADD, *row))


async def statements_after(tx: Tx, position: int) -> Sequence[Record]:
    return await tx.raw.fetch(_AFTER, position)


async def has_statement(tx: Tx, statement_hash: str) -> bool:
    return bool(await tx.raw.fetchval(_HAS, statement_hash))


async def add_card(tx: Tx, card: Card, raw: bytes) -> None:
    await tx.raw.execute(_ADD_CARD, card.card_id, raw, card.hash)


async def cards_but(tx: Tx, known: Sequence[UUID]) -> Sequence[Record]:
    return await tx.raw.fetch(_CARDS, known)
