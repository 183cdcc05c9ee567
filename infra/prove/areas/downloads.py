"""Area downloads: only what is registered is fetched, by its owner or with a link that we signed; copies for nginx are nobody else's to read (rules 14, 24)."""
# composed of words of our own
# ruff: noqa: S608

import asyncio
import re
from http.client import HTTPException
from urllib.parse import quote

from infra.nginx.links import render_links
from infra.prove.check import Book, Check
from infra.prove.fetch import get
from infra.prove.target import Target
from services.agent.downloads.links import LinkKey, read_keys
from shared.clock import now
from shared.ids import fresh_id, new_token

LATE = 180.0
"""Seconds within which a copy of a link that is no more is cleared away."""
LISTED = 5
ODD = ("/downloads/../workspace/x", "/downloads/..%2f.memory.md", "/downloads/.memory.md", "/downloads/a%00b", "/downloads/a%5cb", "/downloads//etc/passwd", "/downloads/", "/downloads/%2e%2e/%2e%2e/keys/agent/links.key")  # fmt: skip
_HELD = "EXISTS (SELECT 1 FROM core.downloads d WHERE d.download_id = p.download_id AND d.owner_kind = p.owner_kind AND d.owner_id = p.owner_id"
FAULTS = {
    "whose a link is agrees with its row, and until when": f"SELECT p.download_id::text FROM app.download_places p WHERE NOT {_HELD} AND d.expires_at = p.expires_at) LIMIT 5",
    "every link that may be fetched can be found": "SELECT d.download_id::text FROM core.downloads d WHERE NOT EXISTS (SELECT 1 FROM app.download_places p WHERE p.download_id = d.download_id) LIMIT 5",
    "only a link for anybody has a token, of which a hash is kept": f"SELECT p.download_id::text FROM app.download_places p WHERE (p.token_hash IS NOT NULL AND octet_length(p.token_hash) <> 32) OR NOT {_HELD} AND d.by_mail = (p.token_hash IS NOT NULL)) LIMIT 5",
    "no link lives for longer than 30 days, and none stays when it is over": "SELECT d.download_id::text FROM core.downloads d WHERE d.expires_at > d.made_at + interval '30 days 1 minute' OR d.expires_at < now() - interval '10 minutes' LIMIT 5",
    "no memory file is registered, and no place outside a workspace": r"SELECT d.download_id::text FROM core.downloads d WHERE d.path ~ '(^|/)\.' OR d.path ~ '^/' OR d.path ~ '\\' OR d.owner_kind <> 'user' LIMIT 5",
}  # fmt: skip
"""What is wrong in the tables, as the superuser sees them."""


async def check(target: Target) -> list[Check]:
    book = Book("downloads")
    await check_rows(target, book)
    await check_spool(target, book)
    await check_reach(target, book)
    check_keys(target, book)
    try:
        await check_links(target, book)
    except (OSError, HTTPException) as error:
        book.add("prove", "reach the workspace", "an answer", "no answer", f"{type(error).__name__}: {error}")
    return book.checks


async def check_rows(target: Target, book: Book) -> None:
    asked = [{"kind": "rows", "role": "pgadm", "database": "agent_db", "query": query} for query in FAULTS.values()]
    for says, outcome in zip(FAULTS, await target.run("pgadm", asked), strict=True):
        book.holds("superuser", says, ", ".join(row[0] for row in outcome["value"]))


async def check_spool(target: Target, book: Book) -> None:
    """Plain files of the agent's, open to nginx's group alone; each of a link that works."""
    (outcome,) = await target.run("agent", [{"kind": "spool"}])
    faults = [f"{name} {fault}" for name, fault in outcome["value"]["faults"]]
    book.holds("agent", "copies for nginx are plain files of the agent's, open to nginx's group alone", "; ".join(faults[:LISTED]))  # fmt: skip
    old = sorted(name for name, age in outcome["value"]["copies"] if age > LATE)
    asked = {"kind": "rows", "role": "pgadm", "database": "agent_db", "query": "SELECT download_id::text FROM app.download_places WHERE expires_at > now()"}  # fmt: skip
    (held,) = await target.run("pgadm", [asked])
    known = {row[0] for row in held["value"]}
    book.holds("agent", "no copy is left of what may not be fetched any more", ", ".join([name for name in old if name not in known][:LISTED]))  # fmt: skip


async def check_reach(target: Target, book: Book) -> None:
    spool, users = str(target.layout.spool), target.users
    attempts = [{"kind": "files", "op": op, "path": spool} for op in ("list", "create")]
    if not target.separated:
        for each in attempts:
            book.open(f"OS user {target.who.users['console']}", f"{each['op']}: spool")
        return
    for user, found in zip(users, await asyncio.gather(*(target.run(user, attempts) for user in users)), strict=True):
        for each, outcome in zip(attempts, found, strict=True):
            book.outcome(f"OS user {user}", f"{each['op']}: spool", outcome, "done" if user == "agent" else "refused")


def check_keys(target: Target, book: Book) -> None:
    """nginx knows the keys that the agent signs with, and no other: an old one would open links that a rotation has shut."""
    conf, key = target.layout.links_conf, target.layout.links_key
    if not conf.exists():
        return
    pairs = re.compile(r'^  ([0-9a-f]+) "([\w-]+)";$', re.MULTILINE)
    wanted, found = (set(pairs.findall(text)) for text in (render_links(key.read_text()), conf.read_text()))
    fault = f"{len(found - wanted)} that the agent does not sign with, {len(wanted - found)} missing" if found != wanted else ""  # fmt: skip
    book.holds("nginx", "the keys of mailed links are the agent's", fault)


async def check_links(target: Target, book: Book) -> None:
    """One answer to everything that is not registered, and nothing of ours in it."""
    base = target.config.urls["workspace"]
    none = await get(base, f"/downloads/{fresh_id()}/x.pdf")
    book.same("a guest", "a link that never was", 404, none.status)
    for path in ODD:
        found = await get(base, path)
        fault = (
            "" if (found.status, _words(found.body)) == (404, _words(none.body)) else f"{found.status}: another answer"
        )
        book.holds("a guest", f"GET {path}", fault)
    for says, path in _forged(target):
        found = await get(base, path)
        book.same("whoever has a link", says, 404, found.status)


def _forged(target: Target) -> list[tuple[str, str]]:
    """Links as somebody could make them who knows how, but not the key; and one that we signed, of nothing that is registered."""
    expires, name, token = int(now().timestamp()) + 600, "x.pdf", new_token()
    path = f"/d/{token}/{name}"
    key = read_keys(target.layout.links_key.read_text())[0] if target.layout.links_key.exists() else LinkKey("0", "0")
    past = expires - 1200

    def query(at: int, key_id: str, signature: str) -> str:
        return f"{path}?e={at}&k={key_id}&s={quote(signature)}"

    return [
        ("a forged link", query(expires, key.key_id, LinkKey(key.key_id, new_token()).sign(path, expires))),
        ("a link signed with nothing", query(expires, "none", LinkKey("none", "").sign(path, expires))),
        ("an expired link", query(past, key.key_id, key.sign(path, past))),
        ("a link whose time was changed", query(expires + 1, key.key_id, key.sign(path, expires))),
        ("a signed link of nothing that is registered", query(expires, key.key_id, key.sign(path, expires))),
    ]


def _words(body: str) -> str:
    """A page without its trace."""
    return re.sub(r"[0-9a-f]{32}", "", body)
