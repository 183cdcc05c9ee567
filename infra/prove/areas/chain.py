"""Area chain: the gate's log from its bytes, the site's copy of it, a fresh head, and keys by duty (S3, S6)."""

import asyncio
import base64
import json
from datetime import datetime, timedelta
from typing import Any

from infra.local.layout import PUBLISHED_DUTIES, SHARED_KEYS, SIGNING_KEYS, key_files
from infra.observe.keyfiles import FIRST
from infra.prove.areas.outward import check_outward
from infra.prove.check import Book, Check
from infra.prove.target import Target
from schemas.catalogue import SERVICES
from schemas.statements import FIRST as EMPTY_LOG
from shared.clock import now
from shared.operator import acall
from shared.settings import DATABASES
from shared.signing import SigningKey

OLDEST_HEAD = timedelta(hours=24)
CATCH_UP_SECONDS = 15.0
EVERY_SECONDS = 0.3


async def check(target: Target) -> list[Check]:
    book = Book("chain")
    await asyncio.gather(check_logs(target, book), check_outward(target, book), check_keys(target, book))
    return book.checks


async def check_logs(target: Target, book: Book) -> None:
    bridge, site, there = await _caught_up(target)
    book.holds("bridge", "the gate's log follows from its bytes, entry by entry", bridge["fault"])
    book.holds(
        "bridge",
        "every revision has the content of its hash, every publication its revision",
        ", ".join(bridge["contents"][:3]),
    )
    book.holds("site", "its copy of the log follows from its bytes, entry by entry", site["fault"])
    behind = f"it is at {site['seq']}, the log was at {bridge['seq']}"
    book.holds("site", "it has followed the gate's log", "" if site["seq"] >= bridge["seq"] else behind)
    book.same("site", "its copy is the gate's log, up to where it is", there, site["head"])
    book.same("site", "its head is that of its copy", [site["seq"], site["head"]], site["state"])
    book.holds("site", "every row is covered by its receipt", "; ".join(site["rows"][:3]))
    book.holds("site", "every published item has its row", ", ".join(site["missing"][:3]))
    book.holds("site", "every withdrawn item has its tombstone", ", ".join(site["graves"][:3]))
    _head(book, site["newest_head"], max(bridge["seq"], site["seq"]))


async def _caught_up(target: Target) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Both logs, and the gate's hash at the site's place. What is published meanwhile is no difference, nor is a moment's delay."""
    bridge = await _verify(target, "bridge")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + CATCH_UP_SECONDS
    while True:
        site = await _verify(target, "site")
        if site["seq"] >= bridge["seq"] or loop.time() > deadline:
            return bridge, site, await _hash_at(target, site["seq"])
        await asyncio.sleep(EVERY_SECONDS)


async def _hash_at(target: Target, seq: int) -> str:
    query = "SELECT hash FROM core.gate_log WHERE seq = $1::bigint"
    row = {"kind": "rows", "role": "bridge", "database": DATABASES["bridge"], "query": query, "args": [seq]}
    (outcome,) = await target.run("bridge", [row])
    return str(outcome["value"][0][0]) if outcome["value"] else EMPTY_LOG


async def _verify(target: Target, service: str) -> dict[str, Any]:
    (outcome,) = await target.run(service, [{"kind": "chain", "as": service}])
    found: dict[str, Any] = outcome["value"]
    return found


def _head(book: Book, newest: dict[str, Any] | None, seq: int) -> None:
    if newest is None:
        book.holds("site", "the newest signed head is younger than 24 hours", "there is no head that the gate signed")
        return
    age = now() - datetime.fromisoformat(newest["at"])
    book.holds(
        "site", "the newest signed head is younger than 24 hours", "" if age < OLDEST_HEAD else f"it is {age} old"
    )
    book.holds(
        "site",
        "the newest signed head lies in the log",
        "" if newest["seq"] <= seq else f"it is about entry {newest['seq']}, the log ends at {seq}",
    )


async def check_keys(target: Target, book: Book) -> None:
    outcomes = await asyncio.gather(
        *(target.run(service, [{"kind": "keys", "op": "public", "as": service}]) for service in SERVICES)
    )
    files = {
        f"{service}/{name}": public
        for service, (found,) in zip(SERVICES, outcomes, strict=True)
        for name, public in found["value"]["files"].items()
    }
    for key, holders in SHARED_KEYS.items():
        shared = {files.pop(f"{service}/{key}", "missing") for service in holders}
        book.holds("installation", f"both holders of {key} have the same", "" if len(shared) == 1 else "they differ")
    for name, public in files.items():
        twins = [other for other, its in files.items() if its == public and other != name]
        book.holds(
            name.split("/")[0], f"key of its own: {name}", f"the same key as {', '.join(twins)}" if twins else ""
        )
    first, added = await _decision_keys(target)
    expected = {f"{service}/{name}" for service in SERVICES for name in key_files(service) if name not in SHARED_KEYS}
    expected = expected - {f"console/{FIRST}"} | {f"console/{name}" for name in added}
    book.same("installation", "one key for each duty and no other", sorted(expected), sorted(files))
    book.same(
        "console",
        "its decision keys are those that it names",
        added,
        {name: files.get(f"console/{name}") for name in added},
    )
    backup = {"admin/backup.key": SigningKey.load(target.layout.backup_key).public.hex()}
    _published(target, book, files | backup | {f"console/{FIRST}": first})


async def _decision_keys(target: Target) -> tuple[str, dict[str, str]]:
    """As the console says: the public half (hex) of the installation's, and of those that are not revoked by their files' names."""
    listed = (await acall(target.layout.state, "console", "keys.list"))["keys"]
    public = {each["key_id"]: base64.b64decode(each["public_key"]).hex() for each in listed}
    first = listed[0]["key_id"]
    live = [each["key_id"] for each in listed if each["state"] not in ("revoked", "refused")]
    return public[first], {FIRST if each == first else f"decision-{each}.key": public[each] for each in live}


def _published(target: Target, book: Book, files: dict[str, str]) -> None:
    """keys/public.json says of each duty what its private half says."""
    public = json.loads(target.layout.public_keys.read_text())
    holders = {duty: service for service, duties in SIGNING_KEYS.items() for duty in duties if duty in PUBLISHED_DUTIES}
    for duty, service in holders.items():
        named = [base64.b64decode(each["public_key"]).hex() for each in public.get(duty, [])]
        book.same(
            "installation", f"the published {duty} key is the one in use", [files.get(f"{service}/{duty}.key")], named
        )
    book.same(
        "installation",
        "no other duty is published",
        sorted(holders),
        sorted(duty for duty, value in public.items() if isinstance(value, list)),
    )
    book.same(
        "installation",
        "secrets are sealed to the key that the connectors have",
        files.get("connectors/secrets.key"),
        public.get("secrets_recipient"),
    )
