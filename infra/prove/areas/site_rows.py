"""Area site rows: decoys put into site_db by hand with the site's own role. Not rendered, reported, and removed again.

Decoys lie under a probe path, or are the row of an item that was withdrawn. That existing rows are covered by their receipts is checked in area chain.
"""
# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from infra.prove.check import Book, Check
from infra.prove.fetch import get, shut
from infra.prove.forge import Forger, probe_path
from infra.prove.target import Attempt, Target
from schemas.text import sha256
from shared.clock import now
from shared.ids import item_id
from shared.settings import DATABASES

SECONDS = 25.0
EVERY_SECONDS = 0.3
_RECEIPT = "entry, signature, key_id, statement, statement_signature, statement_key_id"
_COLUMNS = f"item_id, seq, kind, lang, path, audience, content_hash, {_RECEIPT}, content"
_PUT = f"INSERT INTO app.entries ({_COLUMNS}) SELECT $1::uuid, $2::bigint, 'doc', 'en', $3, $4, $5, {_RECEIPT}, decode($6, 'hex') FROM {{source}} WHERE seq = $7::bigint"
_FORGED = "(SELECT $7::bigint AS seq, '\\x00'::bytea AS entry, '\\x00'::bytea AS signature, 'prove' AS key_id, '\\x00'::bytea AS statement, '\\x00'::bytea AS statement_signature, 'prove' AS statement_key_id) f"
_LOG_ROW = f"""INSERT INTO app.gate_entries (seq, {_RECEIPT}, hash, kind, item_id)
  VALUES ($1::bigint, '\\x00', '\\x00', 'prove', '\\x00', '\\x00', 'prove', $2, 'publication', $3::uuid)"""
_PUBLISHED = "SELECT item_id::text, seq, content FROM app.entries WHERE audience = 'public' ORDER BY seq DESC LIMIT 1"
_WITHDRAWN = """SELECT t.item_id::text, g.seq FROM app.tombstones t JOIN app.gate_entries g ON g.item_id = t.item_id AND g.kind = 'publication'
  WHERE NOT EXISTS (SELECT FROM app.entries e WHERE e.item_id = t.item_id) ORDER BY g.seq DESC LIMIT 1"""
_FAULTS = "SELECT coalesce(path, ''), reason, fault FROM app.faults WHERE cleared_at IS NULL AND (path LIKE $1 || '%' OR fault LIKE '%' || $2 || '%' OR item_id = ANY ($3::text[]::uuid[]))"
_FORGET_FAULTS = "DELETE FROM app.faults WHERE (item_id = ANY ($1::text[]::uuid[]) OR fault LIKE '%' || $2 || '%') AND found_at >= $3::text::timestamptz"
_TOLD = "FROM app.rejected_rows WHERE (item_id = ANY ($1::text[]::uuid[]) OR reason LIKE '%' || $2 || '%') AND found_at >= $3::text::timestamptz"


_LEFT_BEHIND = (
    "DELETE FROM app.entries WHERE path ~ '^prove/[0-9a-f]{16}/[0-9]$' AND applied_at < now() - interval '10 minutes'",
    "DELETE FROM app.gate_entries WHERE key_id = 'prove' AND applied_at < now() - interval '10 minutes'",
)
"""Decoys of a run that was killed."""


@dataclass(frozen=True)
class Decoy:
    """A row to put in, what a visitor must get, and the words of the site's reason. `path` is the page's address."""

    says: str
    put: Attempt
    take: Attempt
    path: str
    status: int
    item: str


async def check(target: Target) -> list[Check]:
    book = Book("site rows")
    forger, began = Forger.of(target), now()
    decoys = [*_by_hand(forger), *await _with_real_receipts(target, forger)]
    log = _log_row(forger)
    await target.run("site", [_write(query, []) for query in _LEFT_BEHIND])
    try:
        await target.run("site", [*(decoy.put for decoy in decoys), log[0]])
        faults = await _faults(target, forger, decoys)
        is_shut = await shut(target.config.urls["site"])
        for decoy in decoys:
            page = await get(target.config.urls["site"], decoy.path)
            book.same("site", f"not rendered: {decoy.says}", 403 if is_shut else decoy.status, page.status)
            book.holds(
                "site",
                f"noticed: {decoy.says}",
                "" if any(decoy.item in fault for fault in faults) else "the site has no fault for it",
            )
        book.holds(
            "site",
            "noticed: an entry behind the end of the gate's log",
            "" if any(str(forger.far) in fault for fault in faults) else "the site has no fault for it",
        )
        await _lists(target, book, forger)
        await _reported(target, book, forger, decoys, began)
    finally:
        await target.run("site", [*(decoy.take for decoy in decoys), log[1]])
        await _clean(target, forger, decoys, began)
    return book.checks


def _by_hand(forger: Forger) -> list[Decoy]:
    """Nobody signed these."""
    names = {"a new row": "public", "a new row for members": "members"}
    found = []
    for number, (says, audience) in enumerate(names.items()):
        path = f"{probe_path(forger.token)}/{number}"
        item = str(item_id("doc", "en", path))
        args = [item, forger.far, path, audience, sha256(forger.content), _raw(forger.content), forger.far]
        found.append(Decoy(says, _put(_FORGED, args), _take(item), f"/doc/en/{path}", 404, item))
    return found


async def _with_real_receipts(target: Target, forger: Forger) -> list[Decoy]:
    """Signatures that are real, over something else: another item's, and those of an item that was withdrawn since."""
    published, withdrawn = await target.run("site", [_read(_PUBLISHED), _read(_WITHDRAWN)])
    found = []
    for _, seq, content in published["value"]:
        for number, (says, body) in enumerate(
            {
                "another item's receipt and body": content,
                "another item's receipt, a swapped body": forger.content.hex(),
            }.items(),
            2,
        ):
            path = f"{probe_path(forger.token)}/{number}"
            item = str(item_id("doc", "en", path))
            args = [item, seq, path, "public", sha256(bytes.fromhex(body)), body, seq]
            found.append(Decoy(says, _put("app.gate_entries", args), _take(item), f"/doc/en/{path}", 404, item))
    for item, seq in withdrawn["value"]:
        found += await _from_the_grave(target, item, seq)
    return found


async def _from_the_grave(target: Target, item: str, seq: int) -> list[Decoy]:
    """The old row of a withdrawn item, exactly as it was."""
    query = "SELECT r.content, g.statement FROM core.gate_log g JOIN core.revisions r ON r.item_id = g.item_id AND r.revision = g.revision WHERE g.seq = $1::bigint"
    row: Attempt = {"kind": "rows", "role": "bridge", "database": DATABASES["bridge"], "query": query, "args": [seq]}
    (outcome,) = await target.run("bridge", [row])
    if not outcome["value"]:
        return []
    content, statement = outcome["value"][0]
    said = json.loads(bytes.fromhex(statement))
    columns = f"INSERT INTO app.entries ({_COLUMNS}) SELECT item_id, seq, $2, $3, $4, $5, $6, {_RECEIPT}, decode($7, 'hex') FROM app.gate_entries WHERE seq = $1::bigint"
    args = [seq, said["kind"], said["lang"], said["path"], said["audience"], said["content_hash"], content]
    status = 410 if said["audience"] == "public" else 404
    path = f"/{said['kind']}/{said['lang']}/{said['path']}"
    return [Decoy("the row of a withdrawn item, put back", _write(columns, args), _take(item), path, status, item)]


def _log_row(forger: Forger) -> tuple[Attempt, Attempt]:
    put = _write(
        _LOG_ROW, [forger.far, sha256(forger.content), str(item_id("doc", "en", f"{probe_path(forger.token)}/log"))]
    )
    return put, _write("DELETE FROM app.gate_entries WHERE seq = $1::bigint", [forger.far])


async def _faults(target: Target, forger: Forger, decoys: list[Decoy]) -> list[str]:
    """What the site says that it found, once it has found as much as was put in."""
    items = [decoy.item for decoy in decoys]
    query = _read(_FAULTS, [probe_path(forger.token), str(forger.far), items])
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SECONDS
    while True:
        (outcome,) = await target.run("site", [query])
        found = [" ".join(row) for row in outcome["value"]]
        wanted = [*items, str(forger.far)]
        if all(any(each in fault for fault in found) for each in wanted) or loop.time() > deadline:
            return found
        await asyncio.sleep(EVERY_SECONDS)


async def _lists(target: Target, book: Book, forger: Forger) -> None:
    """Nor in what lists or finds items."""
    for path in ("/", "/doc/en/", "/feed.xml", "/sitemap.xml", f"/search?q={forger.token}"):
        with suppress(OSError):
            page = await get(target.config.urls["site"], path)
            body = page.body.replace(forger.token, "", 1 if path.startswith("/search") else 0)
            shown = probe_path(forger.token) in page.body or f"Forged by prove {forger.token}" in body
            book.holds("site", f"in no list: {path.split('?')[0]}", "a decoy is named there" if shown else "")


async def _reported(target: Target, book: Book, forger: Forger, decoys: list[Decoy], began: datetime) -> None:
    """The console hears of it from the site, through the lock."""
    query = _of_console(f"SELECT count(*) {_TOLD}", forger, decoys, began)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SECONDS
    while True:
        (outcome,) = await target.run("console", [query])
        count = outcome["value"][0][0]
        if count > len(decoys) or loop.time() > deadline:  # each decoy, and the entry behind the log's end
            break
        await asyncio.sleep(EVERY_SECONDS)
    book.holds(
        "console",
        "every decoy is reported to the console",
        "" if count > len(decoys) else f"{count} of {len(decoys) + 1}",
    )


async def _clean(target: Target, forger: Forger, decoys: list[Decoy], began: datetime) -> None:
    """Take back what the site and the console noted about the decoys."""
    args = [[decoy.item for decoy in decoys], str(forger.far), began.isoformat()]
    await target.run("site", [_write(_FORGET_FAULTS, args)])
    await target.run("console", [_of_console(f"DELETE {_TOLD}", forger, decoys, began) | {"write": True}])


def _of_console(query: str, forger: Forger, decoys: list[Decoy], began: datetime) -> Attempt:
    args = [[decoy.item for decoy in decoys], str(forger.far), began.isoformat()]
    return {"kind": "rows", "role": "console", "database": DATABASES["console"], "query": query, "args": args}


def _raw(content: bytes) -> str:
    return content.hex()


def _put(source: str, args: list[Any]) -> Attempt:
    return _write(_PUT.format(source=source), args)


def _take(item: str) -> Attempt:
    return _write("DELETE FROM app.entries WHERE item_id = $1::uuid", [item])


def _write(query: str, args: list[Any]) -> Attempt:
    return {"kind": "rows", "role": "site", "database": DATABASES["site"], "query": query, "args": args, "write": True}


def _read(query: str, args: list[Any] | None = None) -> Attempt:
    return {"kind": "rows", "role": "site", "database": DATABASES["site"], "query": query, "args": args or []}
