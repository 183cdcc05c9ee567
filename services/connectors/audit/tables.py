"""The call audit's tables. Of an entry only its bytes count; the columns beside them are made from the bytes by the database, for searching."""
# statements are composed of names of ours
# ruff: noqa: S608

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Column, DateTime, Index, LargeBinary, Table, Text, Uuid, text

from services.connectors.audit.domain import WORDS
from services.connectors.schema import core, line, written

BAD = ("failed", "refused", "lost")
_BAD = text("outcome IN ('failed', 'refused', 'lost')")

call_audit = Table(
    "call_audit",
    core,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("entry_id", Uuid, nullable=False, unique=True),
    Column("entry", LargeBinary, nullable=False),
    Column("hash", Text, nullable=False, unique=True),
    Column("previous", Text, nullable=False, unique=True),
    Column("noted_at", DateTime(timezone=True)),
    Column("call_id", Uuid),
    Column("asker", Text),
    Column("on_behalf_of", Text),
    Column("connector", Text),
    Column("target", Text),
    Column("outcome", Text),
    Column("status", Text),
    Column("trace_id", Text),
    Column("words", Text),
    CheckConstraint("hash = encode(sha256(entry), 'hex')", name="call_audit_hash"),
    Index("call_audit_at", "noted_at", "seq"),
    Index("call_audit_call", "call_id"),
    Index("call_audit_asker", "asker", "seq"),
    Index("call_audit_owner", "on_behalf_of", "seq", postgresql_where=text("on_behalf_of <> ''")),
    Index("call_audit_connector", "connector", "seq"),
    Index("call_audit_target", "target", "seq", postgresql_ops={"target": "text_pattern_ops"}),
    Index("call_audit_status", "status", "seq"),
    Index("call_audit_bad", "seq", postgresql_where=_BAD),
    Index("call_audit_trace", "trace_id", postgresql_where=text("trace_id <> ''")),
)
"""`words`: the entry's texts, one after the other, which a free search looks through."""

checkpoints = Table(
    "checkpoints",
    core,
    Column("size", BigInteger, primary_key=True, autoincrement=False),
    line("root"),
    Column("statement", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    line("key_id"),
    Column("statement_hash", Text, nullable=False, unique=True),
    written(),
    CheckConstraint("statement_hash = encode(sha256(statement), 'hex')", name="checkpoints_hash"),
)
"""What this service signed."""

witnesses = Table(
    "witnesses",
    core,
    Column("checkpoint_hash", Text, primary_key=True),
    Column("statement", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    line("key_id"),
    written(),
)
"""What the lock signed under it."""

GRANTS: dict[str, dict[str, Any]] = {
    "call_audit": {"select": True, "insert": ["seq", "entry_id", "entry", "hash", "previous"]}
} | {
    table.name: {"select": True, "insert": [column.name for column in table.columns if column.name != "at"]}
    for table in (checkpoints, witnesses)
}

MADE = {
    "noted_at": "(e ->> 'at')::timestamptz",
    "call_id": "(e ->> 'call_id')::uuid",
    "asker": "e ->> 'asker'",
    "on_behalf_of": "e ->> 'on_behalf_of'",
    "connector": "e ->> 'connector'",
    "target": "e ->> 'target'",
    "outcome": "e ->> 'outcome'",
    "status": "e ->> 'status'",
    "trace_id": "e ->> 'trace_id'",
    "words": "concat_ws(chr(31), {})".format(", ".join(f"e ->> '{name}'" for name in WORDS)),
}
"""Column: how it is made from `e`, the entry as JSON."""
JSON = "convert_from(entry, 'UTF8')::jsonb"

_CHAIN = f"""
CREATE OR REPLACE FUNCTION core.check_call_entry() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE last record; e jsonb;
BEGIN
  SELECT seq, hash INTO last FROM core.call_audit ORDER BY seq DESC LIMIT 1;
  IF NEW.seq <> coalesce(last.seq, -1) + 1 OR NEW.previous <> coalesce(last.hash, repeat('0', 64)) THEN
    RAISE EXCEPTION 'the call audit continues after entry %, not with %', last.seq, NEW.seq USING ERRCODE = '23514';
  END IF;
  e := convert_from(NEW.entry, 'UTF8')::jsonb;
  {" ".join(f"NEW.{name} := {made};" for name, made in MADE.items())}
  IF session_user = 'connectors' AND abs(extract(epoch FROM NEW.noted_at - clock_timestamp())) > 600 THEN
    RAISE EXCEPTION 'an entry of the call audit is written when it happens, not with the time %', NEW.noted_at USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$"""

_LOCK = """
CREATE OR REPLACE FUNCTION core.hold_call_audit() RETURNS TABLE (last_seq bigint, last_hash text)
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7305814202);
  RETURN QUERY SELECT a.seq, a.hash FROM core.call_audit a ORDER BY a.seq DESC LIMIT 1;
END $$"""
"""Two statements, for the second must see what was committed while the first waited; one round trip, for every call waits for it."""

_FILL = f"""
DO $fill$ BEGIN
  IF EXISTS (SELECT FROM core.call_audit WHERE seq = 0 AND noted_at IS NULL) THEN
    ALTER TABLE core.call_audit DISABLE TRIGGER USER;
    UPDATE core.call_audit SET ({", ".join(MADE)}) = (SELECT {", ".join(MADE.values())} FROM (SELECT {JSON} AS e) made) WHERE noted_at IS NULL;
    ALTER TABLE core.call_audit ENABLE TRIGGER USER;
  END IF;
END $fill$"""
"""Entries of a release that did not have these columns; what they say is in their bytes."""

SQL: list[str] = [
    _CHAIN,
    _LOCK,
    "CREATE OR REPLACE TRIGGER check_call_entry BEFORE INSERT ON core.call_audit FOR EACH ROW EXECUTE FUNCTION core.check_call_entry()",
    _FILL,
    "ALTER TABLE core.call_audit DROP COLUMN IF EXISTS written_at",
]
"""`written_at` was no part of the hashed bytes; when an entry was written is in them."""
