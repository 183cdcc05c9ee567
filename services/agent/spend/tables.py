"""The ledger's tables. A row of it is the one record of a call; what the agent may write there is what the call used, and nothing else.

The facts of a call (whose, when, which model, what was reserved) are written when it is reserved and copied by the database when it is settled.
"""
# statements are composed of names of ours
# ruff: noqa: S608

from typing import Any

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, DateTime, Index, Numeric, Table, Text, Uuid, text

from services.agent.schema import app, core, line, owned, when, written

FACTS = ("turn_id", "connector", "model", "surface", "app", "purpose")
"""What a call is for: said when it is reserved, copied when it is settled."""
WINDOW = "interval '24 hours'"
_TOKENS = ("tokens_in", "tokens_out", "tokens_cached")


def _facts() -> tuple[Column[Any], ...]:
    return (Column("turn_id", Uuid, nullable=False), *(line(name) for name in FACTS[1:]))


def _amount(name: str, **kw: Any) -> Column[Any]:
    """US dollars, exactly."""
    return Column(name, Numeric(30, 18), **kw)


def _tokens() -> tuple[Column[Any], ...]:
    return tuple(Column(name, BigInteger) for name in _TOKENS)


usage_ledger = Table(
    "usage_ledger",
    core,
    *owned(),
    Column("call_id", Uuid, primary_key=True),
    *_facts(),
    Column("at", DateTime(timezone=True), nullable=False),
    written("settled_at"),
    Column("kind", Text, nullable=False),
    *_tokens(),
    _amount("reserved", nullable=False),
    _amount("cost"),
    Column("estimated", Boolean, nullable=False, server_default=text("false")),
    CheckConstraint("kind IN ('settled', 'aborted', 'expired')", name="usage_ledger_kind"),
    CheckConstraint("cost >= 0 AND cost <= reserved", name="usage_ledger_cost"),
    CheckConstraint(
        "tokens_in >= 0 AND tokens_out >= 0 AND tokens_cached BETWEEN 0 AND tokens_in", name="usage_ledger_tokens"
    ),
    Index("usage_ledger_call", "call_id", unique=True),
    Index("usage_ledger_window", "owner_kind", "owner_id", "at", postgresql_include=["cost"]),
    Index("usage_ledger_turn", "turn_id"),
)
"""One row a call, keyed by call. `at`: when it was reserved, which is its time in the window; `cost` NULL: nobody knows (rule 30)."""

reservations = Table(
    "reservations",
    core,
    *owned(),
    Column("call_id", Uuid, primary_key=True),
    *_facts(),
    written(),
    when("expires_at", nullable=False),
    _amount("amount", nullable=False),
    Column("most_in", BigInteger, nullable=False),
    Column("most_out", BigInteger, nullable=False),
    when("noted_at"),
    *(Column(f"noted_{name}", BigInteger) for name in _TOKENS),
    Column("outside_call", Uuid),
    CheckConstraint("amount >= 0", name="reservations_amount"),
    CheckConstraint("expires_at <= at + interval '10 minutes 1 second'", name="reservations_life"),
)
"""Calls that run. `noted_…`: what was produced so far, should this process die; `noted_at` NULL: nothing is known to have left."""

spend_minutes = Table(
    "spend_minutes",
    core,
    *owned(),
    when("minute", primary_key=True),
    Column("spent", Numeric, nullable=False),
    Column("unknown", BigInteger, nullable=False),
)
"""The ledger's sums by minute, which only core.keep_spending writes: what makes the sum over a day quick. Two days are kept."""

spenders = Table(
    "spenders",
    app,
    Column("owner_kind", Text, primary_key=True),
    Column("owner_id", Text, primary_key=True),
    when("at", nullable=False),
)
"""Accounts that reserved something lately, without content: where the sweep looks for what expired. Nobody's (architecture 4)."""

TABLES = (usage_ledger, reservations, spend_minutes, spenders)
OWNED = frozenset({"usage_ledger", "reservations", "spend_minutes"})

_OWNER = ["owner_kind", "owner_id"]
NOTED = [f"noted_{name}" for name in _TOKENS] + ["noted_at", "outside_call"]
GRANTS: dict[str, dict[str, Any]] = {
    "usage_ledger": {"select": True, "insert": [*_OWNER, "call_id", "kind", *_TOKENS, "cost", "estimated"]},
    "reservations": {
        "select": True,
        "insert": [*_OWNER, "call_id", *FACTS, "expires_at", "amount", "most_in", "most_out"],
        "update": NOTED,
        "kept": ["delete"],
    },
    "spend_minutes": {"select": True, "kept": ["update", "delete"]},
}

_MINE = "owner_kind = k AND owner_id = i"
_ANY = f"(SELECT true FROM core.spend_minutes WHERE {_MINE} AND minute = date_trunc('minute', since))"
"""Whether there is anything in the minute in which the window begins: else its rows are not looked for."""
_COPIED = " ".join(f"NEW.{name} := r.{name};" for name in FACTS)

_BOOK = f"""
CREATE OR REPLACE FUNCTION core.book_usage() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE r record;
BEGIN
  SELECT * INTO r FROM core.reservations
    WHERE owner_kind = NEW.owner_kind AND owner_id = NEW.owner_id AND call_id = NEW.call_id;
  IF NOT FOUND THEN
    IF EXISTS (SELECT FROM core.usage_ledger WHERE owner_kind = NEW.owner_kind AND owner_id = NEW.owner_id AND call_id = NEW.call_id) THEN
      RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the call % was never reserved', NEW.call_id USING ERRCODE = '23503';
  END IF;
  {_COPIED}
  NEW.at := r.at; NEW.reserved := r.amount; NEW.settled_at := clock_timestamp();
  RETURN NEW;
END $$"""
"""A row's facts are those of its reservation; a call that was settled already adds nothing, one that was never reserved is an error."""

_KEEP = """
CREATE OR REPLACE FUNCTION core.keep_spending() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE b record;
BEGIN
  IF TG_RELID <> 'core.usage_ledger'::regclass THEN
    RAISE EXCEPTION 'only rows of the ledger are summed' USING ERRCODE = '42501';
  END IF;
  FOR b IN SELECT owner_kind, owner_id, array_agg(call_id) AS calls FROM booked GROUP BY 1, 2 LOOP
    DELETE FROM core.reservations r WHERE r.owner_kind = b.owner_kind AND r.owner_id = b.owner_id AND r.call_id = ANY (b.calls);
    DELETE FROM core.spend_minutes m WHERE m.owner_kind = b.owner_kind AND m.owner_id = b.owner_id AND m.minute < clock_timestamp() - interval '2 days';
  END LOOP;
  INSERT INTO core.spend_minutes AS m (owner_kind, owner_id, minute, spent, unknown)
    SELECT owner_kind, owner_id, date_trunc('minute', at), coalesce(sum(cost), 0), count(*) FILTER (WHERE cost IS NULL)
      FROM booked GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (owner_kind, owner_id, minute) DO UPDATE SET spent = m.spent + excluded.spent, unknown = m.unknown + excluded.unknown;
  RETURN NULL;
END $$"""
"""The one function that runs with its owner's rights: rows of the ledger close their reservations and add to their minutes. Under a table of the agent's own
it would book whatever that holds, so it does nothing there."""

_SPENDING = f"""
CREATE OR REPLACE FUNCTION core.spending(k text, i text, since timestamptz)
RETURNS TABLE (spent numeric, unknown numeric, reserved numeric, overdue boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
  SELECT m.spent + e.spent, m.unknown + e.unknown, r.reserved, r.overdue FROM
    (SELECT coalesce(sum(spent), 0) AS spent, coalesce(sum(unknown), 0) AS unknown FROM core.spend_minutes
      WHERE {_MINE} AND minute >= date_trunc('minute', since) + interval '1 minute') m,
    (SELECT coalesce(sum(cost), 0) AS spent, count(*) FILTER (WHERE cost IS NULL) AS unknown FROM core.usage_ledger
      WHERE {_MINE} AND at > since AND at < date_trunc('minute', since) + interval '1 minute' AND {_ANY}) e,
    (SELECT coalesce(sum(amount), 0) AS reserved, coalesce(bool_or(expires_at <= clock_timestamp()), false) AS overdue FROM core.reservations
      WHERE {_MINE}) r
$$"""
"""What counts against the cap since then: whole minutes from their sums, the minute in which the window begins row by row. One statement, so one snapshot:
a call that is settled meanwhile stands in exactly one of the three."""

_FREES = f"""
CREATE OR REPLACE FUNCTION core.spending_frees(k text, i text, since timestamptz, need numeric)
RETURNS TABLE (frees_at timestamptz, frees numeric) LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
  SELECT at + {WINDOW}, total FROM (
    SELECT at, sum(spent) OVER (ORDER BY at) AS total FROM (
      SELECT minute + interval '1 minute' AS at, spent FROM core.spend_minutes
        WHERE {_MINE} AND minute >= date_trunc('minute', since) + interval '1 minute' AND spent > 0
      UNION ALL
      SELECT at, cost FROM core.usage_ledger
        WHERE {_MINE} AND at > since AND at < date_trunc('minute', since) + interval '1 minute' AND cost > 0 AND {_ANY}
    ) parts) sums WHERE total >= need ORDER BY at LIMIT 1
$$"""
"""When that much has fallen out of the window, and how much it is then; to the minute, never too early. No row: never."""

_LOCK = "PERFORM pg_advisory_xact_lock(hashtextextended(k || chr(31) || i, 9200))"

_RESERVE = f"""
CREATE OR REPLACE FUNCTION core.reserve(k text, i text, cap numeric, life interval, calls uuid[], turns uuid[], connectors text[], models text[],
  surfaces text[], apps text[], purposes text[], amounts numeric[], ins bigint[], outs bigint[])
RETURNS TABLE (call_id uuid, verdict text, spent numeric, reserved numeric, unknown numeric, overdue boolean, looked_at timestamptz, at timestamptz,
  expires_at timestamptz)
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
#variable_conflict use_column
DECLARE
  used record; known uuid[]; taken int[] := '{{}}'; held numeric; moment timestamptz; n int; said text[] := '{{}}'; seen numeric[] := '{{}}';
BEGIN
  {_LOCK};
  moment := clock_timestamp();
  SELECT * INTO used FROM core.spending(k, i, moment - {WINDOW});
  held := used.reserved;
  known := array(SELECT l.call_id FROM core.usage_ledger l WHERE l.owner_kind = k AND l.owner_id = i AND l.call_id = ANY (calls)
    UNION ALL SELECT r.call_id FROM core.reservations r WHERE r.owner_kind = k AND r.owner_id = i AND r.call_id = ANY (calls));
  FOR n IN 1 .. cardinality(calls) LOOP
    seen := seen || held;
    IF calls[n] = ANY (known) THEN
      said := said || 'known'::text;
    ELSIF cap IS NULL OR amounts[n] = 0 OR (used.spent + held < cap AND used.spent + held + amounts[n] <= cap) THEN
      said := said || 'taken'::text; taken := taken || n; held := held + amounts[n]; known := known || calls[n];
    ELSE
      said := said || 'full'::text;
    END IF;
  END LOOP;
  INSERT INTO core.reservations (owner_kind, owner_id, call_id, turn_id, connector, model, surface, app, purpose, expires_at, amount, most_in, most_out)
    SELECT k, i, calls[t], turns[t], connectors[t], models[t], surfaces[t], apps[t], purposes[t], clock_timestamp() + life, amounts[t], ins[t], outs[t]
      FROM unnest(taken) AS t;
  RETURN QUERY SELECT calls[t], said[t], used.spent, seen[t], used.unknown, used.overdue, moment, r.at, r.expires_at
    FROM generate_series(1, cardinality(calls)) AS t
    LEFT JOIN core.reservations r ON r.owner_kind = k AND r.owner_id = i AND r.call_id = calls[t] AND said[t] = 'taken' ORDER BY t;
END $$"""
"""Reserve the greatest cost of calls of one account, in order; each is taken or not by what was taken before it (rule 1): `spent` and `reserved` are
what counted then. All times are taken while the lock is held, so the ledger's own history tells what counted at any moment. The lock is a statement of its
own and the function volatile, so that the sum sees all that was committed while it waited; in one statement, or with one snapshot for the
transaction, two workers pass the cap."""

_SETTLE = f"""
CREATE OR REPLACE FUNCTION core.settle(k text, i text, calls uuid[], kinds text[], ins bigint[], outs bigint[], cacheds bigint[], costs numeric[], guessed boolean[])
RETURNS SETOF core.usage_ledger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  {_LOCK};
  RETURN QUERY INSERT INTO core.usage_ledger (owner_kind, owner_id, call_id, kind, tokens_in, tokens_out, tokens_cached, cost, estimated)
    SELECT k, i, t.* FROM unnest(calls, kinds, ins, outs, cacheds, costs, guessed) AS t ON CONFLICT DO NOTHING RETURNING *;
END $$"""
"""Settle calls of one account: their rows, without those that were settled before."""

SQL: list[str] = [
    _BOOK,
    _KEEP,
    _SPENDING,
    _FREES,
    _RESERVE,
    _SETTLE,
    "CREATE OR REPLACE TRIGGER book_usage BEFORE INSERT ON core.usage_ledger FOR EACH ROW EXECUTE FUNCTION core.book_usage()",
    "CREATE OR REPLACE TRIGGER keep_spending AFTER INSERT ON core.usage_ledger REFERENCING NEW TABLE AS booked"
    " FOR EACH STATEMENT EXECUTE FUNCTION core.keep_spending()",
    "ALTER TABLE core.reservations SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, fillfactor = 70)",
    "ALTER TABLE core.spend_minutes SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, fillfactor = 50)",
]
