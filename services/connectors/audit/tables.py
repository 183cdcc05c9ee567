"""The call audit's tables."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Column, DateTime, LargeBinary, Table, Text, Uuid, text

from services.connectors.schema import core

call_audit = Table(
    "call_audit",
    core,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("entry_id", Uuid, nullable=False, unique=True),
    Column("entry", LargeBinary, nullable=False),
    Column("hash", Text, nullable=False, unique=True),
    Column("previous", Text, nullable=False, unique=True),
    Column("written_at", DateTime(timezone=True), nullable=False, server_default=text("clock_timestamp()")),
    CheckConstraint("hash = encode(sha256(entry), 'hex')", name="call_audit_hash"),
)

GRANTS: dict[str, dict[str, Any]] = {
    "call_audit": {"select": True, "insert": ["seq", "entry_id", "entry", "hash", "previous"]}
}

_CHAIN = """
CREATE OR REPLACE FUNCTION core.check_call_entry() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE last record;
BEGIN
  SELECT seq, hash INTO last FROM core.call_audit ORDER BY seq DESC LIMIT 1;
  IF NEW.seq <> coalesce(last.seq, -1) + 1 OR NEW.previous <> coalesce(last.hash, repeat('0', 64)) THEN
    RAISE EXCEPTION 'the call audit continues after entry %, not with %', last.seq, NEW.seq USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$"""

SQL: list[str] = [
    _CHAIN,
    "CREATE OR REPLACE TRIGGER check_call_entry BEFORE INSERT ON core.call_audit FOR EACH ROW EXECUTE FUNCTION core.check_call_entry()",
]
