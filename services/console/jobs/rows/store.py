"""Rows that jobs are about: counted, listed, deleted to the trash in one statement, and put back. Names in statements are quoted, values are bound."""
# statements are composed of quoted names of ours and numbered places
# ruff: noqa: S608

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from services.console.jobs.domain import LOCK_FOR
from services.console.jobs.rows.domain import Predicate, Target, name_of
from shared.db import Tx

_REFERENCES = """
SELECT n.nspname AS schema, c.relname AS table, k.confdeltype::text AS on_delete,
  ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY u(num, ord) JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.num ORDER BY u.ord) AS columns,
  ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY u(num, ord) JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.num ORDER BY u.ord) AS targets
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype = 'f' AND k.confrelid = $1::regclass ORDER BY 1, 2"""


async def references(tx: Tx, target: Target) -> Sequence[Record]:
    """Foreign keys to this table: schema, table, on_delete (`a` and `r` delete nothing), columns, targets."""
    found: Sequence[Record] = await tx.raw.fetch(_REFERENCES, target.place)
    return found


def held_by(refers: Sequence[Record]) -> str:
    """SQL over `_t`: another row refers to this one. A row that refers to itself holds nothing."""
    found = []
    for each in refers:
        child = f"{_quoted(each['schema'])}.{_quoted(each['table'])}"
        same = " AND ".join(
            f"_c.{_quoted(own)} = {name_of(other)}" for own, other in zip(each["columns"], each["targets"], strict=True)
        )
        found.append(
            f"EXISTS (SELECT FROM {child} _c WHERE {same} AND (_c.tableoid, _c.ctid) <> (_t.tableoid, _t.ctid))"
        )
    return " OR ".join(found) or "false"


async def count(tx: Tx, target: Target, what: Predicate, held: str) -> Record:
    """rows, bytes (of the rows as text), undated, referenced, keys_hash (SHA-256 over the sorted keys). One statement, one moment."""
    goes = f"({what.where}) AND NOT ({held})"
    row: Record | None = await tx.raw.fetchrow(
        f"""SELECT count(*) FILTER (WHERE goes) AS rows, coalesce(sum(size) FILTER (WHERE goes), 0)::bigint AS bytes,
          count(*) FILTER (WHERE undated) AS undated, count(*) FILTER (WHERE fits AND NOT goes) AS referenced,
          encode(sha256(convert_to(coalesce(string_agg(key, E'\\n' ORDER BY key COLLATE "C") FILTER (WHERE goes), ''), 'UTF8')), 'hex') AS keys_hash
        FROM (SELECT coalesce({goes}, false) AS goes, coalesce({what.where}, false) AS fits, coalesce({what.undated}, false) AS undated,
          octet_length(_t::text) AS size, {_key(target)} AS key FROM {target.place} _t) _found""",
        *what.values,
    )
    assert row is not None, "an aggregate has a row"
    return row


async def listed(tx: Tx, target: Target, what: Predicate, held: str, limit: int, offset: int) -> Sequence[Record]:
    """key, data (JSON) of the rows that would go, by key."""
    found: Sequence[Record] = await tx.raw.fetch(
        f"""SELECT {_key(target)} AS key, to_jsonb(_t)::text AS data FROM {target.place} _t
        WHERE ({what.where}) AND NOT ({held}) ORDER BY {_key(target)} COLLATE "C" LIMIT {limit:d} OFFSET {offset:d}""",
        *what.values,
    )
    return found


async def delete(
    tx: Tx, target: Target, what: Predicate, held: str, run_id: UUID, at: datetime, until: datetime, most: int
) -> tuple[list[str], int]:  # fmt: skip
    """Deletes at most `most` rows that fit, to the trash. Their keys, and bytes. A row that somebody is changing is looked at again before it goes."""
    await tx.raw.execute(f"SET LOCAL lock_timeout = '{LOCK_FOR}'")
    n = len(what.values)
    names = ", ".join(f"_t.{_quoted(each)} AS _k{place}" for place, each in enumerate(target.key))
    same = " AND ".join(f"_t.{_quoted(each)} = _o._k{place}" for place, each in enumerate(target.key))
    rows = await tx.raw.fetch(
        f"""WITH _old AS MATERIALIZED (SELECT {names}, octet_length(_t::text) AS _size FROM {target.place} _t WHERE ({what.where}) AND NOT ({held}) LIMIT {most:d} FOR UPDATE OF _t),
        _gone AS (DELETE FROM {target.place} _t USING _old _o WHERE {same} RETURNING {_key(target)} AS key, to_jsonb(_t) AS data, _o._size AS size),
        _kept AS (INSERT INTO app.job_trash (run_id, app_slug, table_name, key, data, deleted_at, expires_at)
          SELECT ${n + 1}::uuid, ${n + 2}::text, ${n + 3}::text, key, data, ${n + 4}::timestamptz, ${n + 5}::timestamptz FROM _gone)
        SELECT key, size FROM _gone""",
        *what.values, run_id, target.app, target.table, at, until,
    )  # fmt: skip
    return [row["key"] for row in rows], sum(row["size"] for row in rows)


async def trashed(tx: Tx, run_id: UUID, present: datetime, most: int, after: int = 0) -> Sequence[Record]:
    """trash_id, key, data, expires_at of rows that can be restored."""
    found: Sequence[Record] = await tx.raw.fetch(
        """SELECT trash_id, key, data::text AS data, deleted_at, expires_at FROM app.job_trash
        WHERE run_id = $1 AND expires_at > $2 AND trash_id > $3 ORDER BY trash_id LIMIT $4""",
        run_id, present, after, most,
    )  # fmt: skip
    return found


async def count_trashed(tx: Tx, run_id: UUID, present: datetime) -> int:
    return int(await tx.raw.fetchval("SELECT count(*) FROM app.job_trash WHERE run_id = $1 AND expires_at > $2", run_id, present))  # fmt: skip


async def put_back(tx: Tx, target: Target, columns: Sequence[str], trash_ids: Sequence[int]) -> list[str]:
    """Rows go back as they were, and leave the trash. The keys of those that went; a row whose key is taken again stays in the trash."""
    names = ", ".join(_quoted(each) for each in columns)
    same = " AND ".join(f"_t.{_quoted(each)} = _row.{_quoted(each)}" for each in target.key)
    rows = await tx.raw.fetch(
        f"""WITH _free AS MATERIALIZED (SELECT _h.trash_id, _h.key, _h.data FROM app.job_trash _h, LATERAL jsonb_populate_record(NULL::{target.place}, _h.data) _row
          WHERE _h.trash_id = ANY($1::bigint[]) AND NOT EXISTS (SELECT FROM {target.place} _t WHERE {same})),
        _back AS (INSERT INTO {target.place} ({names}) OVERRIDING SYSTEM VALUE
          SELECT {", ".join(f"_row.{_quoted(each)}" for each in columns)} FROM _free, LATERAL jsonb_populate_record(NULL::{target.place}, _free.data) _row),
        _left AS (DELETE FROM app.job_trash WHERE trash_id IN (SELECT trash_id FROM _free))
        SELECT key FROM _free""",
        list(trash_ids),
    )
    return [row["key"] for row in rows]


async def real_columns(tx: Tx, target: Target) -> list[str]:
    """As they are in the database now, in their order."""
    rows = await tx.raw.fetch(
        "SELECT attname::text AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
        target.place,
    )
    return [row["name"] for row in rows]


_PRUNE = """WITH _over AS (DELETE FROM app.job_trash WHERE trash_id IN (SELECT trash_id FROM app.job_trash WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)
    RETURNING app_slug, table_name, key, deleted_at),
  _history AS (DELETE FROM app.record_history h USING _over o WHERE h.app = o.app_slug AND h.table_name = o.table_name AND h.row_key = o.key AND h.at <= o.deleted_at
    AND h.what <> 'deleted')
  SELECT count(*) FROM _over"""


async def prune(tx: Tx, present: datetime, most: int) -> int:
    """Rows whose seven days are over, and what their history says of what they were; how many."""
    return int(await tx.raw.fetchval(_PRUNE, present, most))


def _key(target: Target) -> str:
    """A row's key as records write it: a compact JSON list of texts."""
    parts = " || ',' || ".join(f"to_json({_text(target, each)})::text" for each in target.key)
    return f"('[' || {parts} || ']')"


def _text(target: Target, name: str) -> str:
    column = name_of(name)
    if target.columns.get(name) != "instant":
        return f"{column}::text"
    wall = f"({column} AT TIME ZONE 'UTC')"
    micro = f"CASE WHEN date_trunc('second', {wall}) = {wall} THEN '' ELSE to_char({wall}, '.US') END"
    return f"(to_char({wall}, 'YYYY-MM-DD\"T\"HH24:MI:SS') || {micro} || 'Z')"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
