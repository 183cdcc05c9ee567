"""Share links. The token stands nowhere: `token_hash` is the SHA-256 of its 256 random bits."""

from sqlalchemy import BigInteger, Column, Date, Index, Table, Text, Uuid, text

from services.console.schema import app, when

share_links = Table(
    "share_links",
    app,
    Column("link_id", Uuid, primary_key=True),
    Column("item_id", Uuid, nullable=False),
    Column("token_hash", Text, nullable=False),
    Column("label", Text, nullable=False),
    when("expires_at", nullable=False),
    when("opened_at", nullable=False),
    Column("opened_by", Text, nullable=False),
    Column("open_hash", Text, nullable=False, unique=True),
    Column("open_outcome", Text, nullable=False),
    Column("gate_seq", BigInteger),
    when("closed_at"),
    Column("closed_by", Text),
    Column("close_hash", Text, unique=True),
    Column("close_outcome", Text),
    Column("refusal", Text, nullable=False, server_default=text("''")),
    Index("share_links_of_item", "item_id", "opened_at"),
)
"""`label` says to staff for whom it is; it stays inside. Outcomes: sent, applied or refused; `refusal`: why, the newest one.
`gate_seq`: where the opening stands in the gate's log; a withdrawal behind it has closed the link."""
link_views = Table(
    "link_views",
    app,
    Column("link_id", Uuid, primary_key=True),
    Column("day", Date, primary_key=True),
    Column("n", BigInteger, nullable=False),
)
