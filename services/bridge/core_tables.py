"""The protected tables of the lock: `core` belongs to bridge_owner. The service may add rows and read them, never change or remove one."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from schemas.catalogue import DELIVER_TO_SITE, EVENTS

core = MetaData(schema="core")

_NOW = text("clock_timestamp()")


def _at() -> Column[Any]:
    """When the row was written, by the database's clock: the service has no right to state it."""
    return Column("at", DateTime(timezone=True), nullable=False, server_default=_NOW)


def _line(name: str) -> Column[Any]:
    return Column(name, Text, nullable=False)


def _position() -> Column[Any]:
    return Column("position", BigInteger, Identity(always=True), primary_key=True)


def _signed() -> tuple[Column[Any], ...]:
    """The exact signed bytes with their signature (S1), who stands behind them, and by which way they came."""
    return (
        Column("statement", LargeBinary, nullable=False),
        Column("signature", LargeBinary, nullable=False),
        _line("key_id"),
        Column("statement_hash", Text, nullable=False, unique=True),
        _line("person_id"),
        _line("person_name"),
        _line("via"),
        _line("reason"),
        _line("nonce"),
    )


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


_HASHED = "statement_hash = encode(sha256(statement), 'hex')"
_CONTROL = tuple(event.name for event in EVENTS if event.control and event.policy == "deliver")

crossings = Table(
    "crossings",
    core,
    _position(),
    Column("event_id", Uuid, nullable=False),
    _line("sender"),
    _line("receiver"),
    _line("type"),
    _line("key"),
    Column("keyversion", BigInteger, nullable=False),
    _line("body_hash"),
    _line("policy"),
    _line("verdict"),
    Column("reason", Text, nullable=False, server_default=""),
    Column("decided_by", Text, nullable=False, server_default=""),
    Column("signature_hash", Text),
    Column("trace_id", Text, nullable=False, server_default=""),
    _at(),
    UniqueConstraint("event_id", "receiver", "verdict", name="crossings_once"),  # parked, and delivered by a replay
    CheckConstraint("policy IN ('deliver', 'review', 'block')", name="crossings_policy"),
    CheckConstraint("verdict IN ('delivered', 'queued', 'refused', 'blocked', 'parked')", name="crossings_verdict"),
    Index("crossings_items", "key", "position", postgresql_where=text("type LIKE 'item.%'")),
    Index(
        "crossings_audit",
        "keyversion",
        postgresql_include=["signature_hash", "verdict"],
        postgresql_where=text("type = 'call.audited'"),
    ),
)
"""`signature_hash`: of the signature that the event carries; of an entry of the call audit its own hash, which commits to all before it."""

revisions = Table(
    "revisions",
    core,
    Column("item_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("submission_id", Uuid, nullable=False),
    _line("kind"),
    _line("lang"),
    _line("path"),
    _line("audience"),
    Column("content", LargeBinary, nullable=False),
    _line("content_hash"),
    _line("submitted_by"),
    _line("submitted_name"),
    _line("submitted_via"),
    Column("findings", JSONB, nullable=False),
    Column("blocked", Boolean, nullable=False),
    _at(),
    CheckConstraint("content_hash = encode(sha256(content), 'hex')", name="revisions_hash"),
    CheckConstraint("revision >= 1", name="revisions_from_one"),
    Index("revisions_comments", "submitted_by", "at", postgresql_where=text("kind = 'comment'")),
)

decisions = Table(
    "decisions",
    core,
    _position(),
    Column("event_id", Uuid, nullable=False),
    Column("item_id", Uuid, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("prior_version", BigInteger, nullable=False),
    _line("verdict"),
    *_signed(),
    Column("assertion", LargeBinary),  # room for the reviewer's own WebAuthn assertion (S3)
    _at(),
    Column("undoes", Text),
    Column("round", Integer, nullable=False, server_default=text("0")),
    ForeignKeyConstraint(["item_id", "revision"], ["core.revisions.item_id", "core.revisions.revision"]),
    UniqueConstraint("item_id", "prior_version", name="decisions_one_per_version"),
    CheckConstraint(
        "verdict IN ('approve', 'reject', 'request_changes', 'withdraw', 'undo')", name="decisions_verdict"
    ),
    CheckConstraint(
        "CASE verdict WHEN 'undo' THEN undoes IS NOT NULL WHEN 'approve' THEN true ELSE undoes IS NULL END",
        name="decisions_undo_names_one",
    ),
    CheckConstraint("via IN ('console', 'api', 'operator')", name="decisions_by_people"),
    CheckConstraint(_HASHED, name="decisions_hash"),
    Index(
        "decisions_one_verdict",
        "item_id",
        "revision",
        "round",
        unique=True,
        postgresql_where=text("verdict IN ('approve', 'reject', 'request_changes')"),
    ),
    Index("decisions_undone_once", "undoes", unique=True, postgresql_where=text("undoes IS NOT NULL")),
)
"""`undoes`: the verdict that an undo takes back, or the approval for a time whose place another approval takes. `round`: how many verdicts
on this revision were taken back or replaced up to this row, counted by the trigger `check_decision`. In one round there is one verdict,
so whoever decides second after an undo meets the same unique key as whoever decides second without one."""

gate_log = Table(
    "gate_log",
    core,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    _line("kind"),
    Column("entry", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    _line("key_id"),
    Column("hash", Text, nullable=False, unique=True),
    Column("previous", Text, nullable=False, unique=True),
    Column("item_id", Uuid),
    Column("revision", Integer),
    Column("statement", LargeBinary, nullable=False),
    Column("statement_signature", LargeBinary, nullable=False),
    _line("statement_key_id"),
    _at(),
    CheckConstraint("kind IN ('publication', 'withdrawal', 'site_mode', 'key', 'link')", name="gate_log_kind"),
    CheckConstraint("hash = encode(sha256(entry), 'hex')", name="gate_log_hash"),
    Index("gate_log_items", "item_id", "seq"),
)

policies = Table(
    "policies",
    core,
    Column("sender", Text, primary_key=True),
    Column("receiver", Text, primary_key=True),
    Column("type", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    _line("policy"),
    _line("set_by"),
    _line("reason"),
    _at(),
    CheckConstraint("policy IN ('deliver', 'review', 'block')", name="policies_policy"),
    CheckConstraint(
        f"receiver <> 'site' OR policy <> 'deliver' OR type IN ({_names(DELIVER_TO_SITE)})",
        name="policies_shut_to_site",
    ),
    CheckConstraint(f"type NOT IN ({_names(_CONTROL)}) OR policy = 'deliver'", name="policies_control_facts"),
)

switch_settings = Table(
    "switch_settings",
    core,
    Column("name", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    _line("value"),
    *_signed(),
    _at(),
    CheckConstraint(_HASHED, name="switch_settings_hash"),
    CheckConstraint(
        "(name, value) IN (('publication_mode', 'review'), ('publication_mode', 'frozen'), ('four_eyes', 'on'),"
        " ('four_eyes', 'off'), ('site_mode', 'off'), ('site_mode', 'members'), ('site_mode', 'open'))",
        name="switch_settings_known",
    ),
)

decision_keys = Table(
    "decision_keys",
    core,
    _position(),
    _line("subject_key_id"),
    _line("public_key"),
    _line("action"),
    *_signed(),
    _at(),
    CheckConstraint("action IN ('added', 'revoked')", name="decision_keys_action"),
    CheckConstraint(_HASHED, name="decision_keys_hash"),
)

link_changes = Table(
    "link_changes",
    core,
    _position(),
    Column("link_id", Uuid, nullable=False),
    Column("item_id", Uuid, nullable=False),
    _line("action"),
    _line("token_hash"),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    *_signed(),
    _at(),
    UniqueConstraint("link_id", "action", name="link_changes_once"),
    CheckConstraint("action IN ('open', 'close')", name="link_changes_action"),
    CheckConstraint("via IN ('console', 'api', 'operator')", name="link_changes_by_people"),
    CheckConstraint(_HASHED, name="link_changes_hash"),
    Index("link_changes_one_token", "token_hash", unique=True, postgresql_where=text("action = 'open'")),
)
"""Share links (rule 29). The token itself stands nowhere. What was closed is never open again: a link has one row for each of the two."""

_DATABASE_FILLS = {"position", "at", "round"}
CORE_GRANTS: dict[str, dict[str, Any]] = {
    table.name: {
        "select": True,
        "insert": [column.name for column in table.columns if column.name not in _DATABASE_FILLS],
    }
    for table in core.sorted_tables
}
