"""What the bridge reads and writes while it handles an event. Written for few round trips: one read, one write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from asyncpg import Record
from sqlalchemy import Table

from services.bridge.core_tables import CORE_GRANTS
from services.bridge.domain import SWITCH_DEFAULTS, Item, Revision
from services.bridge.gate import Head, KeyRecord
from services.bridge.judging import Given, Link
from shared.db import Tx

_LOCK_GATE = "SELECT pg_advisory_xact_lock(7305814201)"
_RULES = """
  ARRAY(SELECT DISTINCT ON (name) name || '=' || value FROM core.switch_settings ORDER BY name, version DESC) AS switches,
  ARRAY(SELECT action || ' ' || subject_key_id || ' ' || public_key FROM core.decision_keys ORDER BY position) AS keys,
  (SELECT seq FROM core.gate_log ORDER BY seq DESC LIMIT 1) AS head_seq,
  (SELECT hash FROM core.gate_log ORDER BY seq DESC LIMIT 1) AS head_hash"""
_REVISION = "r.revision, r.kind, r.lang, r.path, r.audience, r.content, r.content_hash, r.submitted_by, r.blocked"
_PRESENT = f"""
SELECT i.item_id, i.state, i.revision AS newest, i.published_revision, i.scheduled_revision, i.publish_at, i.version, i.expire_at, i.decided,
  EXISTS (SELECT FROM core.revisions p WHERE p.item_id = i.item_id AND p.submitted_via = 'agent') AS proposed, {_REVISION}, {_RULES}
FROM app.items i LEFT JOIN core.revisions r ON r.item_id = i.item_id AND r.revision = coalesce($2::int, i.revision)
WHERE i.item_id = $1 FOR UPDATE OF i"""  # noqa: S608 - built from the constants above
_PRESENT_RULES = f"SELECT {_RULES}"
_POLICIES = """
SELECT DISTINCT ON (sender, receiver, type) sender, receiver, type, policy FROM core.policies
ORDER BY sender, receiver, type, version DESC"""
_SEED_POLICIES = """
INSERT INTO core.policies (sender, receiver, type, version, policy, set_by, reason)
SELECT *, 'installation', 'default of the catalogue'
FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[]) ON CONFLICT DO NOTHING"""
_LAST_DECISION = """
SELECT revision, person_name, verdict, at FROM core.decisions WHERE item_id = $1 ORDER BY position DESC LIMIT 1"""
_SWITCH_VERSION = "SELECT coalesce(max(version), 0) FROM core.switch_settings WHERE name = $1"
_KNOWS_SETTING = "SELECT EXISTS (SELECT FROM core.switch_settings WHERE statement_hash = $1)"
_LINK = """
SELECT item_id, token_hash, expires_at, (SELECT count(*) FROM core.link_changes c WHERE c.link_id = $1) AS changes
FROM core.link_changes WHERE link_id = $1 AND action = 'open'"""
_PUBLIC_TO = """
SELECT r.audience FROM app.items i JOIN core.revisions r ON r.item_id = i.item_id AND r.revision = i.published_revision
WHERE i.item_id = $1"""
_COMMENTS = """
SELECT (SELECT count(*) FROM core.revisions WHERE kind = 'comment' AND submitted_by = $1 AND at > clock_timestamp() - interval '1 minute') AS lately,
  (SELECT count(*) FROM app.items WHERE kind = 'comment' AND state = 'submitted') AS waiting"""
_PUBLISHED_CONTENT = """
SELECT r.content FROM app.items i JOIN core.revisions r ON r.item_id = i.item_id AND r.revision = i.published_revision
WHERE i.item_id = $1"""
_REVISION_CONTENT = "SELECT content FROM core.revisions WHERE item_id = $1 AND revision = $2"
_APPROVAL = """
SELECT statement, statement_hash, signature, key_id, person_id, person_name, via, reason FROM core.decisions
WHERE item_id = $1 AND revision = $2 AND verdict = 'approve' ORDER BY position DESC LIMIT 1"""
_GIVEN = """
SELECT d.item_id, d.revision, d.verdict, extract(epoch FROM clock_timestamp() - d.at)::float8 AS age, u.person_name AS undone_by
FROM core.decisions d LEFT JOIN core.decisions u ON u.undoes = d.statement_hash AND u.verdict = 'undo' WHERE d.statement_hash = $1"""
_ASK = "INSERT INTO app.gate_requests (event_id, nonce, after_seq) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
_ASKED = "SELECT position, event_id, nonce, after_seq FROM app.gate_requests ORDER BY position LIMIT 1 FOR UPDATE"
_ASK_ON = "UPDATE app.gate_requests SET after_seq = $2 WHERE position = $1"
_ANSWERED = "DELETE FROM app.gate_requests WHERE position = $1"
_SAVE_ITEM = """
INSERT INTO app.items (item_id, kind, lang, path, state, revision, published_revision, scheduled_revision, publish_at, version, expire_at, decided)
VALUES ({}) ON CONFLICT (item_id) DO UPDATE SET state = excluded.state, revision = excluded.revision,
  published_revision = excluded.published_revision, scheduled_revision = excluded.scheduled_revision,
  publish_at = excluded.publish_at, version = excluded.version, expire_at = excluded.expire_at, decided = excluded.decided"""


class Crossing(NamedTuple):
    """One row of the record of crossings, in the order of its insert."""

    event_id: UUID
    sender: str
    receiver: str
    type: str
    key: str
    keyversion: int
    body_hash: str
    policy: str
    verdict: str
    reason: str = ""
    decided_by: str = ""
    signature_hash: str | None = None
    trace_id: str = ""


_CROSSING_TYPES = ("uuid", "text", "text", "text", "text", "bigint", *["text"] * 7)
_UNNEST = "SELECT * FROM unnest({})"


@dataclass(frozen=True)
class Rules:
    """What is in force: switches, added and revoked keys, and where the gate's log stands."""

    switches: dict[str, str]
    keys: tuple[KeyRecord, ...]
    head: Head


@dataclass(frozen=True)
class Present:
    """What the lock holds about an item, its row locked. `item` and `revision` are None for an unknown item."""

    item: Item | None
    revision: Revision | None
    rules: Rules


@lru_cache(maxsize=64)
def _insert(table: str) -> tuple[str, tuple[str, ...]]:
    columns = tuple(CORE_GRANTS[table]["insert"])
    return f"INSERT INTO core.{table} ({', '.join(columns)}) VALUES ({{}})", columns  # noqa: S608 - declared names


class Writes:
    """Everything that one event changes here, written in one statement."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, tuple[Any, ...], tuple[str, ...]]] = []

    def add(self, table: Table, row: Mapping[str, Any]) -> None:
        """A row of a core table; columns that are not named are NULL."""
        sql, columns = _insert(table.name)
        self._parts.append((sql, tuple(row.get(name) for name in columns), ()))

    def save(self, item: Item, revision: Revision) -> None:
        """The item's present state. `revision`: any of its revisions, for what never changes."""
        row = (item.item_id, revision.kind, revision.lang, revision.path, item.state, item.revision)
        rest = (item.published, item.scheduled, item.publish_at, item.version, item.expire_at, item.decided)
        self._parts.append((_SAVE_ITEM, (*row, *rest), ()))

    def cross(self, crossings: Sequence[Crossing]) -> None:
        """Rows of the record of crossings. A replay that ends as before adds none."""
        columns = tuple(list(column) for column in zip(*crossings, strict=True))
        names = ", ".join(Crossing._fields)
        sql = f"INSERT INTO core.crossings ({names}) {_UNNEST} ON CONFLICT DO NOTHING"
        self._parts.append((sql, columns, _CROSSING_TYPES))

    async def run(self, tx: Tx) -> None:
        if not self._parts:
            return
        statements: list[str] = []
        values: list[Any] = []
        for sql, row, types in self._parts:
            first = len(values) + 1
            places = [f"${first + at}" + (f"::{types[at]}[]" if types else "") for at in range(len(row))]
            statements.append(sql.format(", ".join(places)))
            values += row
        *before, last = statements
        head = ", ".join(f"w{at} AS ({sql})" for at, sql in enumerate(before))
        await tx.raw.execute(f"WITH {head} {last}" if before else last, *values)


async def lock_gate(tx: Tx) -> None:
    """Nobody else appends to the gate's log until this transaction ends. A statement of its own: what is read next sees
    what the last holder of the lock wrote."""
    await tx.raw.execute(_LOCK_GATE)


async def present(tx: Tx, item_id: UUID, revision: int | None = None) -> Present:
    """The item with one revision (None: its newest), and what is in force; locks the item's row."""
    row = await tx.raw.fetchrow(_PRESENT, item_id, revision)
    if row is None:
        return Present(None, None, await rules(tx))
    item = Item(
        item_id=row["item_id"],
        state=row["state"],
        revision=row["newest"],
        published=row["published_revision"],
        scheduled=row["scheduled_revision"],
        version=row["version"],
        publish_at=row["publish_at"],
        expire_at=row["expire_at"],
        decided=row["decided"],
        proposed=row["proposed"],
    )
    names = ("revision", "kind", "lang", "path", "audience", "content", "content_hash", "submitted_by", "blocked")
    return Present(item, Revision(item_id=item_id, **{name: row[name] for name in names}), _rules(row))


async def rules(tx: Tx) -> Rules:
    return _rules(await tx.raw.fetchrow(_PRESENT_RULES))


def _rules(row: Any) -> Rules:
    switches = SWITCH_DEFAULTS | dict(each.split("=", 1) for each in row["switches"])
    keys = tuple(KeyRecord(*each.split(" ", 2)) for each in row["keys"])
    return Rules(switches, keys, Head() if row["head_seq"] is None else Head(row["head_seq"], row["head_hash"]))


async def policies(tx: Tx) -> dict[tuple[str, str, str], str]:
    """The policy in force by (sender, receiver, event name)."""
    return {(row["sender"], row["receiver"], row["type"]): row["policy"] for row in await tx.raw.fetch(_POLICIES)}


async def seed_policies(tx: Tx, defaults: Sequence[tuple[str, str, str, str]]) -> None:
    """Write the catalogue's default (sender, receiver, event name, policy) wherever nothing was ever set."""
    senders, receivers, names, values = zip(*defaults, strict=True)
    await tx.raw.execute(_SEED_POLICIES, senders, receivers, names, [1] * len(defaults), values)


async def last_decision(tx: Tx, item_id: UUID) -> Record | None:
    """revision, person_name, verdict and time of the newest decision on an item."""
    return await tx.raw.fetchrow(_LAST_DECISION, item_id)


async def switch_version(tx: Tx, name: str) -> int:
    return int(await tx.raw.fetchval(_SWITCH_VERSION, name))


async def knows_setting(tx: Tx, statement_hash: str) -> bool:
    return bool(await tx.raw.fetchval(_KNOWS_SETTING, statement_hash))


async def link(tx: Tx, link_id: UUID) -> Link | None:
    """The share link as it was opened."""
    row = await tx.raw.fetchrow(_LINK, link_id)
    return None if row is None else Link(**dict(row))


async def published_to(tx: Tx, item_id: UUID) -> str | None:
    """For whom the item's published revision is; None while nothing of it is public."""
    found: str | None = await tx.raw.fetchval(_PUBLIC_TO, item_id)
    return found


async def comments_of(tx: Tx, visitor: str) -> tuple[int, int]:
    """Comments that came from a visitor within the last minute, and how many wait for a decision at all."""
    row = await tx.raw.fetchrow(_COMMENTS, visitor)
    assert row is not None
    return row["lately"], row["waiting"]


async def published_content(tx: Tx, item_id: UUID) -> bytes | None:
    """The content that is public now: what an edit is compared with."""
    found: bytes | None = await tx.raw.fetchval(_PUBLISHED_CONTENT, item_id)
    return found


async def revision_content(tx: Tx, item_id: UUID, revision: int) -> bytes | None:
    found: bytes | None = await tx.raw.fetchval(_REVISION_CONTENT, item_id, revision)
    return found


async def approval(tx: Tx, item_id: UUID, revision: int) -> Record:
    """The decision that approved a revision, the newest if one was undone, with who is behind it."""
    found = await tx.raw.fetchrow(_APPROVAL, item_id, revision)
    assert found is not None, "a scheduled revision was approved"
    return found


async def given(tx: Tx, statement_hash: str) -> Given | None:
    """The decision with that statement, and who has undone it."""
    row = await tx.raw.fetchrow(_GIVEN, statement_hash)
    return None if row is None else Given(**dict(row))


async def ask(tx: Tx, event_id: UUID, nonce: str, after_seq: int) -> None:
    """Remember that the site asked for the entries after `after_seq`."""
    await tx.raw.execute(_ASK, event_id, nonce, after_seq)


async def oldest_question(tx: Tx) -> Record | None:
    """position, event_id, nonce, after_seq of the question to go on answering; its row locked."""
    return await tx.raw.fetchrow(_ASKED)


async def answered_until(tx: Tx, position: int, seq: int) -> None:
    await tx.raw.execute(_ASK_ON, position, seq)


async def answered(tx: Tx, position: int) -> None:
    await tx.raw.execute(_ANSWERED, position)
