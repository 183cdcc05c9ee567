"""What is read of the call audit. An entry is always read from its hashed bytes; the columns beside them only find it."""
# statements are composed of names of ours; every value is a parameter
# ruff: noqa: S608

from collections.abc import Sequence
from typing import Any, NamedTuple

from asyncpg import Record

from schemas.text import parse_json
from services.connectors.audit.query import Query
from services.connectors.audit.tables import BAD
from shared.db import Tx
from shared.db.words import words_or_id

MOST_COUNTED = 10_000
"""More than these are not counted."""
SLACK = 1000
"""Places by which numbers and times may differ: two instances' clocks, and a commit that waits."""
_FIRST_SINCE = "(SELECT seq FROM core.call_audit WHERE noted_at >= {0} ORDER BY noted_at, seq LIMIT 1)"
_LAST_UNTIL = "(SELECT seq FROM core.call_audit WHERE noted_at < {0} ORDER BY noted_at DESC, seq DESC LIMIT 1)"
_UNENDED = """
SELECT entry FROM core.call_audit b WHERE outcome = 'begun' AND status = $1 AND seq <= $2 AND NOT EXISTS
  (SELECT FROM core.call_audit e WHERE e.call_id = b.call_id AND e.outcome IN ('ok', 'failed', 'refused', 'cancelled', 'lost'))
ORDER BY seq"""
_CHECKPOINTS = """
SELECT c.size, c.root, c.statement, c.signature, c.key_id, c.statement_hash,
       w.statement AS witness, w.signature AS witness_signature, w.key_id AS witness_key_id
  FROM core.checkpoints c LEFT JOIN core.witnesses w ON w.checkpoint_hash = c.statement_hash
 WHERE c.size > $1 ORDER BY c.size LIMIT $2"""
_HASHES = "SELECT seq, hash FROM core.call_audit WHERE seq BETWEEN $1 AND $2 ORDER BY seq"


class _Wanted(NamedTuple):
    where: str
    values: list[Any]


def _wanted(query: Query) -> _Wanted:
    values: list[Any] = []

    def value(given: Any) -> str:
        values.append(given)
        return f"${len(values)}"

    parts = ["true"]
    for name, exact in query.exact:
        if (name, exact) == ("outcome", "bad"):
            parts.append("outcome IN ({})".format(", ".join(f"'{each}'" for each in BAD)))
        elif name == "target":
            parts.append(f"target ^@ {value(exact)}")
        elif name == "operation":
            parts.append(f"convert_from(entry, 'UTF8')::jsonb ->> 'operation' = {value(exact)}")
        else:
            parts.append(f"{name} = {value(exact)}")
    if query.call_id is not None:
        parts.append(f"call_id = {value(query.call_id)}")
    if query.since is not None:
        at = value(query.since)
        parts.append(f"noted_at >= {at} AND seq >= {_FIRST_SINCE.format(at)} - {SLACK}")
    if query.until is not None:
        at = value(query.until)
        parts.append(f"noted_at < {at} AND seq <= {_LAST_UNTIL.format(at)} + {SLACK}")
    if query.q:
        parts.append(words_or_id(query.q, value(query.q)))
    return _Wanted(" AND ".join(f"({each})" for each in parts), values)


async def search(tx: Tx, query: Query) -> list[dict[str, Any]]:
    """Newest first."""
    where, values = _wanted(query)
    if query.before is not None:
        values.append(query.before)
        where += f" AND seq < ${len(values)}"
    values.append(query.limit)
    rows = await tx.raw.fetch(
        f"SELECT entry, hash FROM core.call_audit WHERE {where} ORDER BY seq DESC LIMIT ${len(values)}", *values
    )
    return [_read(row) for row in rows]


async def count(tx: Tx, query: Query) -> int:
    """How many there are; MOST_COUNTED + 1 stands for more."""
    where, values = _wanted(query)
    statement = f"SELECT count(*) FROM (SELECT FROM core.call_audit WHERE {where} LIMIT {MOST_COUNTED + 1}) found"
    return int(await tx.raw.fetchval(statement, *values))


def _read(row: Record) -> dict[str, Any]:
    fields: dict[str, Any] = parse_json(row["entry"])
    fields.pop("previous", None)
    return fields | {"hash": row["hash"]}


async def unended(tx: Tx, part: str, until: int) -> list[dict[str, Any]]:
    """Entries `begun` by that part, up to number `until`, of calls that have no end."""
    return [parse_json(row["entry"]) for row in await tx.raw.fetch(_UNENDED, part, until)]


async def checkpoints_after(tx: Tx, size: int, limit: int) -> Sequence[Record]:
    return await tx.raw.fetch(_CHECKPOINTS, size, limit)


async def hashes(tx: Tx, first: int, last: int) -> list[tuple[int, str]]:
    return [(row["seq"], row["hash"]) for row in await tx.raw.fetch(_HASHES, first, last)]
