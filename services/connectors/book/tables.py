"""The signed statements, and the cards that some of them decide on. Nothing else opens anything: no row here counts without its signature."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Identity, Index, LargeBinary, Table, Text, Uuid

from services.connectors.schema import core, line, written

statements = Table(
    "statements",
    core,
    Column("position", BigInteger, Identity(always=True), primary_key=True),
    line("purpose"),
    line("subject"),
    Column("statement", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    line("key_id"),
    Column("statement_hash", Text, nullable=False, unique=True),
    line("person_id"),
    line("person_name"),
    line("via"),
    line("reason"),
    line("nonce"),
    written(),
    CheckConstraint("statement_hash = encode(sha256(statement), 'hex')", name="statements_hash"),
    Index("statements_of", "subject", "position"),
)
"""`purpose` and `subject` are for people who look; what counts is read from the signed bytes."""

cards = Table(
    "cards",
    core,
    Column("card_id", Uuid, primary_key=True),
    Column("card", LargeBinary, nullable=False),
    Column("card_hash", Text, nullable=False, unique=True),
    written(),
    CheckConstraint("card_hash = encode(sha256(card), 'hex')", name="cards_hash"),
)
"""`card`: the canonical bytes that a decision signs the hash of."""

GRANTS = {
    table.name: {"select": True, "insert": [c.name for c in table.columns if c.name not in ("position", "at")]}
    for table in (statements, cards)
}
