"""The console's copy of the usage ledger. The agent's own is what the cap reads; this one is for looking."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Numeric, Table, Text, Uuid

from services.console.schema import app, when

spend = Table(
    "spend",
    app,
    Column("call_id", Uuid, primary_key=True),
    Column("turn_id", Uuid, nullable=False),
    Column("owner_kind", Text, nullable=False),
    Column("owner_id", Text, nullable=False),
    when("at", nullable=False),
    when("settled_at", nullable=False),
    *(Column(name, Text, nullable=False) for name in ("kind", "connector", "model", "surface", "app", "purpose")),
    *(Column(name, BigInteger) for name in ("tokens_in", "tokens_out", "tokens_cached")),
    Column("cost", Numeric),
    Column("estimated", Boolean, nullable=False),
    Index("spend_by_time", "at", postgresql_include=["cost"]),
    Index("spend_of_owner", "owner_kind", "owner_id", "at"),
    Index("spend_of_turn", "turn_id"),
)
"""`at`: when the call was reserved, its time in the cap's window. `cost` NULL: nobody knows (rule 30)."""
