"""Area attachments: bytes are served for what a signed decision names, and for nothing else; those of revisions can be changed by nobody (rule 5, S13)."""

# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

import json
import struct
import zlib
from base64 import b64encode

from infra.prove.check import Book, Check
from infra.prove.fetch import get, shut
from infra.prove.forge import Forger
from infra.prove.target import Attempt, Target
from schemas.catalogue import SURFACES
from schemas.text import sha256
from shared.operator import acall
from shared.settings import DATABASES

_PUT = "INSERT INTO app.attachments (hash, data) VALUES ($1, decode($2, 'hex'))"
_TAKE = "DELETE FROM app.attachments WHERE hash = ANY ($1::text[])"
CHECKED = "23514"
"""The code of a violated CHECK."""
_NAMED = """
SELECT i.published_revision = r.revision AND i.state = 'published' AS public, r.content FROM core.revisions r
JOIN app.items i ON i.item_id = r.item_id WHERE position(convert_to('"attachments":[', 'UTF8') IN r.content) > 0
ORDER BY r.at DESC LIMIT 200"""


async def check(target: Target) -> list[Check]:
    book = Book("attachments")
    await check_inspection(target, book)
    await check_rows(target, book)
    await check_kept(target, book)
    await check_unpublished(target, book)
    await check_senders(target, book)
    return book.checks


async def check_inspection(target: Target, book: Book) -> None:
    """Whoever hands bytes in without making pictures anew: the lock stops what is more than a picture, and lets a plain one pass."""
    plain = _png()
    tried = {
        "a picture and nothing besides": ("a.png", plain),
        "a picture with words in its metadata": ("a.png", _png(_chunk(b"tEXt", b"Comment\0words"))),
        "a picture that is an archive, too": ("a.png", plain + b"PK\x03\x04"),
        "a drawing with a script, called a picture": (
            "a.png",
            b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>",
        ),
        "a page called a text": ("a.txt", b"<!doctype html><script>1</script>"),
    }
    for says, (name, raw) in tried.items():
        found = await acall(
            target.layout.state, "bridge", "inspection.file", {"name": name, "data": b64encode(raw).decode()}
        )
        expected = "let through" if raw == plain else "stopped"
        book.same("lock", says, expected, "stopped" if any(each["level"] == "block" for each in found["findings"]) else "let through")  # fmt: skip


def _png(more: bytes = b"") -> bytes:
    """One black pixel, and what is put between its parts."""
    head = _chunk(b"IHDR", b"\0\0\0\1\0\0\0\1\x08\0\0\0\0")
    return b"\x89PNG\r\n\x1a\n" + head + more + _chunk(b"IDAT", zlib.compress(b"\0\0")) + _chunk(b"IEND", b"")


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


async def check_rows(target: Target, book: Book) -> None:
    """What the site's own role puts in by hand: bytes that no item names are served to nobody, and other bytes than the hash says cannot be put in."""
    forger, base = Forger.of(target), target.config.urls["site"]
    planted = f"planted by prove {forger.token}".encode()
    real, wrong = sha256(planted), sha256(planted + b".")
    (outcome,) = await target.run("site", [_attack("site", "app.attachments", wrong, planted)])
    book.outcome("site", "app.attachments: other bytes than the hash says", outcome)
    try:
        await target.run("site", [_write(_PUT, [real, planted.hex()])])
        page = await get(base, f"/a/{real}/prove.txt")
        book.same(
            "visitor",
            "an attachment put in by hand, which no item names",
            403 if await shut(base) else 404,
            page.status,
        )
        book.holds("visitor", "none of its bytes are told", "they are" if forger.token in page.body else "")
    finally:
        await target.run("site", [_write(_TAKE, [[real]])])


async def check_kept(target: Target, book: Book) -> None:
    """The lock's own role cannot keep bytes under another hash; that it cannot change or remove what is kept is among the protected tables."""
    (outcome,) = await target.run("bridge", [_attack("bridge", "core.attachments", sha256(b"other"), b"probe")])
    book.outcome("bridge", "core.attachments: bytes under another hash", outcome)


def _attack(role: str, table: str, hash_: str, raw: bytes) -> Attempt:
    statement = f"INSERT INTO {table} (hash, data) VALUES ('{hash_}', decode('{raw.hex()}', 'hex'))"
    return {"kind": "sql", "role": role, "database": DATABASES[role], "statement": statement, "codes": [CHECKED]}


async def check_unpublished(target: Target, book: Book) -> None:
    """Attachments that wait, were turned down, replaced or taken back are nowhere on the site, with or without a tag that was good once."""
    base = target.config.urls["site"]
    query: Attempt = {"kind": "rows", "role": "bridge", "database": DATABASES["bridge"], "query": _NAMED}
    (outcome,) = await target.run("bridge", [query])
    public, others = set[str](), dict[str, str]()
    for is_public, content in outcome["value"]:
        for each in json.loads(bytes.fromhex(content))["attachments"]:
            if is_public:
                public.add(each["hash"])
            else:
                others[each["hash"]] = each["name"]
    served = []
    for hash_, name in [(key, name) for key, name in others.items() if key not in public][:20]:
        for headers in ({}, {"If-None-Match": f'"{hash_[:32]}"'}, {"If-None-Match": "*"}):
            answer = await get(base, f"/a/{hash_}/{name}", headers)
            served += [f"{name}: {answer.status}"] if answer.status not in (403, 404, 410) else []
    book.holds("visitor", "no attachment of what is not public is served", ", ".join(served[:5]))


async def check_senders(target: Target, book: Book) -> None:
    """Who may hand in bytes, and that nobody but the lock gives any to the site."""
    for service in SURFACES:
        names = ["to.site.attachment.published", f"from.{service}.attachment.published"]
        names += ["from.console.attachment.submitted"] if service != "console" else []
        names += ["from.agent.attachment.proposed"] if service != "agent" else []
        tried: list[Attempt] = [
            {"kind": "bus", "as": service, "op": "publish", "subjects": [subject], "payload": "{}"} for subject in names
        ]
        for subject, outcome in zip(names, await target.run(service, tried), strict=True):
            book.outcome(service, f"publish {subject}", outcome)


def _write(query: str, args: list[object]) -> Attempt:
    return {"kind": "rows", "role": "site", "database": DATABASES["site"], "query": query, "args": args, "write": True}
