"""The signed statements, and the cards that some of them decide on. Nothing else opens anything: no row here counts without its signature."""

from sqlalchemy import CheckConstraint, Column, LargeBinary, Table, Text, Uuid

from services.connectors.schema import core, written
from shared.db.statements import statements_table

statements = statements_table(core)

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
