"""The site's copy of the gate's log, its rows and its heads. Statements run on the transaction's own connection."""
# the parts that the statements are composed of are constants of this file
# ruff: noqa: S608

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from schemas.statements import Decision, GateEntry, Signed
from services.site.publication.chain import Entered, Link
from services.site.publication.domain import Row
from shared.db import Tx

_RECEIPT = "entry, signature, key_id, statement, statement_signature, statement_key_id"
_ROW = f"item_id, seq, kind, lang, path, audience, content_hash, {_RECEIPT}, content, xmin::text AS xmin"

_MOVE_HEAD = """UPDATE app.site_state SET seq = $1, hash = $2, reported_seq = greatest(reported_seq, $1)
  WHERE id = 1 AND seq = $1 - 1 AND hash = $3 RETURNING 1"""
_ADD_ENTRY = f"""INSERT INTO app.gate_entries AS old (seq, hash, kind, item_id, {_RECEIPT})
  SELECT $1, $2, $4, $5::uuid, $6, $7, $8, $9, $10, $11 FROM moved
  ON CONFLICT (seq) DO UPDATE SET (hash, kind, item_id, {_RECEIPT}) =
    (excluded.hash, excluded.kind, excluded.item_id, {", ".join("excluded." + each for each in _RECEIPT.split(", "))})
  RETURNING xmin::text AS xmin"""
_FOUND = """SELECT (SELECT xmin FROM added) AS xmin, (SELECT reported_seq FROM app.site_state WHERE id = 1) AS reported_seq,
  (SELECT count(*) FROM app.held_entries) AS held WHERE EXISTS (SELECT 1 FROM moved)"""
_PUT_ROW = f"""INSERT INTO app.entries (item_id, seq, kind, lang, path, audience, content_hash, {_RECEIPT}, content)
  SELECT $5, $1, $12, $13, $14, $15, $16, $6, $7, $8, $9, $10, $11, $17 FROM moved
  ON CONFLICT (item_id) DO UPDATE SET (seq, kind, lang, path, audience, content_hash, {_RECEIPT}, content, applied_at) =
    (excluded.seq, excluded.kind, excluded.lang, excluded.path, excluded.audience, excluded.content_hash,
     {", ".join("excluded." + each for each in _RECEIPT.split(", "))}, excluded.content, clock_timestamp())
  RETURNING xmin::text AS xmin"""
_PUBLISH = f"""WITH moved AS ({_MOVE_HEAD}), logged AS ({_ADD_ENTRY}), added AS ({_PUT_ROW}),
  risen AS (DELETE FROM app.tombstones WHERE item_id = $5 AND EXISTS (SELECT 1 FROM moved)) {_FOUND}"""
_WITHDRAW = f"""WITH moved AS ({_MOVE_HEAD}), added AS ({_ADD_ENTRY}),
  gone AS (DELETE FROM app.entries WHERE item_id = $5 AND EXISTS (SELECT 1 FROM moved)),
  buried AS (INSERT INTO app.tombstones (item_id, seq) SELECT $5, $1 FROM moved
    ON CONFLICT (item_id) DO UPDATE SET seq = excluded.seq, withdrawn_at = clock_timestamp()) {_FOUND}"""
_NOTE = f"WITH moved AS ({_MOVE_HEAD}), added AS ({_ADD_ENTRY}) {_FOUND}"


@dataclass(frozen=True)
class Applied:
    """What applying an entry found: the row's version, whether it had been reported before, how many entries wait."""

    xmin: str
    is_new: bool
    held: int


@dataclass(frozen=True)
class Held:
    """An entry that waits for those before it. `read`: its gate entry, where that was verified already."""

    link: Link
    content: bytes | None
    read: GateEntry | None = None


def _signed(row: Any, prefix: str = "") -> Signed:
    payload = row["statement"] if prefix else row["entry"]
    return Signed(payload=payload, signature=row[f"{prefix}signature"], key_id=row[f"{prefix}key_id"])


def _link(row: Any) -> Link:
    return Link(_signed(row), _signed(row, "statement_"))


def _row(row: Any) -> Row:
    plain = {
        name: row[name] for name in ("item_id", "seq", "kind", "lang", "path", "audience", "content_hash", "content")
    }
    return Row(**plain, statement=_signed(row, "statement_"), gate=_signed(row), xmin=row["xmin"])


def _receipt(link: Link) -> tuple[Any, ...]:
    gate, statement = link.gate, link.statement
    return gate.payload, gate.signature, gate.key_id, statement.payload, statement.signature, statement.key_id


async def apply_entry(tx: Tx, entered: Entered, content: bytes | None) -> Applied | None:
    """Append a verified entry and do what it says to the rows. None when our head is not the entry before it."""
    entry = entered.entry
    head = (entry.seq, entered.hash, entry.previous, entry.entry, entry.item_id, *_receipt(entered.link))
    match entered.statement:
        case Decision() as decision:
            place = (decision.kind, decision.lang, decision.path, decision.audience, decision.content_hash)
            found = await tx.raw.fetchrow(_PUBLISH, *head, *place, content)
        case _:
            found = await tx.raw.fetchrow(_WITHDRAW if entry.entry == "withdrawal" else _NOTE, *head)
    if found is None:
        return None
    # reported_seq is read from the snapshot before this statement: the entry is new when it lies above
    return Applied(found["xmin"], entry.seq > found["reported_seq"], found["held"])


async def head(tx: Tx) -> tuple[int, str]:
    """Number and hash of our newest entry; the row stays locked until the transaction ends."""
    found = await tx.raw.fetchrow("SELECT seq, hash FROM app.site_state WHERE id = 1 FOR UPDATE")
    assert found is not None, "the state row is made at start"
    return found["seq"], found["hash"]


async def open_state(tx: Tx, first: str, form_key: bytes) -> bytes:
    """Make the state row of a new installation; the forms' key."""
    await tx.raw.execute(
        "INSERT INTO app.site_state (id, seq, hash, reported_seq, form_key) VALUES (1, -1, $1, -1, $2) ON CONFLICT DO NOTHING",
        first,
        form_key,
    )
    return bytes(await tx.raw.fetchval("SELECT form_key FROM app.site_state WHERE id = 1"))


async def set_head(tx: Tx, seq: int, hash_: str) -> None:
    """Take our copy of the log back to an entry: what lies behind it is asked for again."""
    await tx.raw.execute("UPDATE app.site_state SET seq = $1, hash = $2 WHERE id = 1", seq, hash_)


async def links_after(tx: Tx, seq: int) -> list[Link]:
    """The stored links behind an entry, up to our head, in order."""
    found = await tx.raw.fetch(
        f"""SELECT {_RECEIPT} FROM app.gate_entries
            WHERE seq > $1 AND seq <= (SELECT seq FROM app.site_state WHERE id = 1) ORDER BY seq""",
        seq,
    )
    return [_link(row) for row in found]


async def put_row(tx: Tx, entered: Entered, content: bytes) -> str:
    """Put the row of an already applied publication back; its new version."""
    decision = entered.statement
    assert isinstance(decision, Decision)
    place = (decision.kind, decision.lang, decision.path, decision.audience, decision.content_hash)
    moved = "WITH moved AS (SELECT $2::text, $3::text, $4::text)"
    head_ = (entered.entry.seq, entered.hash, entered.entry.previous, entered.entry.entry, entered.entry.item_id)
    return str(await tx.raw.fetchval(f"{moved} {_PUT_ROW}", *head_, *_receipt(entered.link), *place, content))


async def row(tx: Tx, item_id: UUID) -> Row | None:
    found = await tx.raw.fetchrow(f"SELECT {_ROW} FROM app.entries WHERE item_id = $1", item_id)
    return None if found is None else _row(found)


async def rows(tx: Tx, ids: Iterable[UUID]) -> list[Row]:
    return [
        _row(each) for each in await tx.raw.fetch(f"SELECT {_ROW} FROM app.entries WHERE item_id = ANY($1)", list(ids))
    ]


async def horizon(tx: Tx) -> int:
    """The oldest transaction that may still come to an end: whatever was written before it can be seen by now.

    0, and with it everything, once the server has counted through 32 bits: row versions are told apart by those alone.
    """
    oldest = int(await tx.raw.fetchval("SELECT pg_snapshot_xmin(pg_current_snapshot())::text"))
    return oldest if oldest < 2**32 else 0


async def row_versions(tx: Tx, since: int = 0) -> tuple[dict[UUID, tuple[int, str]], int]:
    """Entry and row version of the rows written since (see `horizon`), and how many rows there are."""
    found = await tx.raw.fetch(
        "SELECT item_id, seq, xmin::text AS xmin FROM app.entries WHERE xmin::text::bigint >= $1", since
    )
    total = len(found) if not since else await tx.raw.fetchval("SELECT count(*) FROM app.entries")
    return {each["item_id"]: (each["seq"], each["xmin"]) for each in found}, total


async def fingerprint(tx: Tx) -> tuple[Any, ...]:
    """Changes when any row of the log, of the entries or of the attachments was added, changed or removed, by whomever."""
    found = await tx.raw.fetchrow("""
        SELECT (SELECT count(*) FROM app.entries) AS a, (SELECT sum(hashtextextended(item_id || ' ' || xmin, 0)) FROM app.entries) AS b,
          (SELECT count(*) FROM app.gate_entries) AS c, (SELECT sum(hashtextextended(seq || ' ' || xmin, 0)) FROM app.gate_entries) AS d,
          (SELECT count(*) FROM app.attachments) AS f, (SELECT sum(hashtextextended(hash || ' ' || xmin, 0)) FROM app.attachments) AS g,
          (SELECT seq FROM app.site_state WHERE id = 1) AS e""")
    return tuple(found.values()) if found else ()


async def hold(tx: Tx, seq: int, link: Link, content: bytes | None) -> None:
    await tx.raw.execute(
        f"INSERT INTO app.held_entries (seq, {_RECEIPT}, content) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
        seq,
        *_receipt(link),
        content,
    )


async def held(tx: Tx, seq: int) -> Held | None:
    """The held entry with this number."""
    found = await tx.raw.fetchrow(f"SELECT {_RECEIPT}, content FROM app.held_entries WHERE seq = $1", seq)
    return None if found is None else Held(_link(found), found["content"])


async def drop_held(tx: Tx, seq: int) -> None:
    """Forget held entries up to and including this number."""
    await tx.raw.execute("DELETE FROM app.held_entries WHERE seq <= $1", seq)


async def keep_head(tx: Tx, sealed: Signed, nonce: str) -> None:
    """Keep a signed head, and throw away those older than two days."""
    await tx.raw.execute(
        "INSERT INTO app.sealed_heads (hash, nonce, head, signature, key_id) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        sealed.hash,
        nonce,
        sealed.payload,
        sealed.signature,
        sealed.key_id,
    )
    await tx.raw.execute("DELETE FROM app.sealed_heads WHERE received_at < clock_timestamp() - interval '2 days'")


async def heads_since(tx: Tx, known: Sequence[str]) -> list[Signed]:
    """Signed heads that this process has not seen."""
    found = await tx.raw.fetch(
        "SELECT head, signature, key_id FROM app.sealed_heads WHERE hash <> ALL($1)", list(known)
    )
    return [Signed(payload=each["head"], signature=each["signature"], key_id=each["key_id"]) for each in found]


async def open_fault(tx: Tx, fault: str, item_id: UUID | None, path: str | None, reason: str) -> bool:
    """Record a fault; whether it is new, or there again."""
    found = await tx.raw.fetchval(
        """INSERT INTO app.faults AS old (fault, item_id, path, reason) VALUES ($1, $2, $3, $4)
           ON CONFLICT (fault) DO UPDATE SET cleared_at = NULL, found_at = clock_timestamp() WHERE old.cleared_at IS NOT NULL
           RETURNING 1""",
        fault,
        item_id,
        path,
        reason,
    )
    return found is not None


async def close_faults(tx: Tx, still_open: Iterable[str]) -> None:
    """Mark every other fault as cleared."""
    await tx.raw.execute(
        "UPDATE app.faults SET cleared_at = clock_timestamp() WHERE cleared_at IS NULL AND fault <> ALL($1)",
        list(still_open),
    )


async def log_versions(tx: Tx, since: int = 0) -> tuple[dict[int, str], int]:
    """Row version of the entries of our copy of the log written since (see `horizon`), and how many entries there are."""
    found = await tx.raw.fetch(
        "SELECT seq, xmin::text AS xmin FROM app.gate_entries WHERE xmin::text::bigint >= $1", since
    )
    total = len(found) if not since else await tx.raw.fetchval("SELECT count(*) FROM app.gate_entries")
    return {each["seq"]: each["xmin"] for each in found}, total
