"""Area visitors: share links that nobody opened, comments that come by another way or about what is not public, and what the database refuses of them."""
# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

from infra.prove.areas.decisions import try_forged
from infra.prove.areas.forgeries import MARK, SIGNATURE, Forged
from infra.prove.areas.guard import FORM, check_private
from infra.prove.check import Book, Check
from infra.prove.fetch import Answer, get, send, shut
from infra.prove.forge import Forger, probe_path, sign
from infra.prove.target import Attempt, Target
from infra.prove.traces import forget
from schemas.catalogue import SURFACES
from schemas.console.v1 import ItemSubmitted, LinkChanged
from schemas.content import ItemContent
from schemas.model import Actor
from schemas.site.v1 import CommentSubmitted
from schemas.statements import Decision, LinkChange, Opening, Signed
from schemas.text import sha256
from shared.clock import now
from shared.ids import fresh_id, item_id
from shared.settings import DATABASES

OWNERS = {"link.changed": "console", "comment.submitted": "site", "form.answered": "site"}
NOBODY = "00000000-0000-0000-0000-000000000000"
NO_TOKEN = "probe" + "x" * 38


async def check(target: Target) -> list[Check]:
    book = Book("visitors")
    forger = Forger.of(target)
    try:
        await asyncio.gather(
            check_senders(target, book),
            check_rows(target, book),
            check_doors(book, target.config.urls["site"]),
            try_forged(target, book, await forged_links(target, forger), "v"),
            try_forged(target, book, forged_comments(forger), "y", "site"),
            try_forged(target, book, [_by_staff(forger)], "x"),
        )
        await _nothing_changed(target, book, forger)
    finally:
        for letter in "vxy":
            await forget(target, "bridge", letter)
    return book.checks


async def check_senders(target: Target, book: Book) -> None:
    """Each has one owner; no other account may say it, on whatever subject."""
    for name, owner in OWNERS.items():
        for service in (each for each in SURFACES if each != owner):
            subjects = [f"from.{owner}.{name}", f"from.{service}.{name}"]
            tried: list[Attempt] = [
                {"kind": "bus", "as": service, "op": "publish", "subjects": [subject], "payload": "{}"}
                for subject in subjects
            ]
            for subject, outcome in zip(subjects, await target.run(service, tried), strict=True):
                book.outcome(service, f"publish {subject}", outcome)


async def forged_links(target: Target, forger: Forger) -> list[Forged]:
    """Changes of share links that nobody made, signed by whom they must not be, or well signed about what they are not about."""
    change = _change(forger)
    hidden = forger.opening.model_copy(update={"via": "agent"})
    wanted = {
        "real": (LinkChange.PURPOSE, change),
        "crossed": (Decision.PURPOSE, change),
        "elsewhere": (LinkChange.PURPOSE, _change(forger, item_id=UUID(NOBODY))),
        "closing": (LinkChange.PURPOSE, _change(forger, action="close", prior_version=1)),
        "by an agent": (LinkChange.PURPOSE, _change(forger, decider=hidden.commitment)),
    }
    made = await sign(target, "console", [("decision", purpose, each.to_bytes()) for purpose, each in wanted.values()])
    signed = dict(zip(wanted, made, strict=True))
    (gate,) = await sign(target, "bridge", [("gate", LinkChange.PURPOSE, change.to_bytes())])
    real = signed["real"]
    return [
        _link(forger, "not signed", real.model_copy(update={"signature": b""}), SIGNATURE),
        _link(forger, "signed by a stranger", forger.by_stranger(change), SIGNATURE),
        _link(forger, "signed by a stranger in the real key's name", forger.by_stranger(change, forger.key_id), SIGNATURE),
        _link(forger, "signed by the gate's key in the real key's name", gate.model_copy(update={"key_id": forger.key_id}), SIGNATURE),
        _link(forger, "signed for another purpose", signed["crossed"], SIGNATURE),
        _link(forger, "well signed, to another item than the event", signed["elsewhere"], "invalid"),
        _link(forger, "well signed, to an item that is not published", real, "conflict"),
        _link(forger, "well signed, closes a link that there is not", signed["closing"], "invalid"),
        _link(forger, "well signed, by way of an agent", signed["by an agent"], "invalid", hidden),
    ]  # fmt: skip


def _change(forger: Forger, **other: Any) -> LinkChange:
    at = now()
    fields = {
        "key_id": forger.key_id,
        "link_id": fresh_id(),
        "item_id": forger.item,
        "action": "open",
        "token_hash": sha256(forger.token.encode()),
        "expires_at": at + timedelta(days=1),
        "decided_at": at,
        "decider": forger.opening.commitment,
        "prior_version": 0,
    }
    return LinkChange.model_validate(fields | other)


def _link(forger: Forger, says: str, signed: Signed, expected: str, opening: Opening | None = None) -> Forged:
    data = LinkChanged(item_id=forger.item, statement=signed, opening=opening or forger.opening)
    return Forged(says, forger.event("link.changed", data, MARK), expected, "link.changed")


def forged_comments(forger: Forger) -> list[Forged]:
    """What the site's own account may say, and the lock must not take."""
    about = forger.item
    loose = ItemContent(title="Probe", body="x")
    return [
        _comment(forger, "about an item that is not published", ItemContent(title="Probe", body="x", about=about)),
        _comment(forger, "about nothing", loose),
        _comment(forger, "under another item than it names", ItemContent(title="Probe", body="x", about=UUID(NOBODY))),
        _comment(forger, "of 4,001 characters", ItemContent(title="Probe", body="x" * 4001, about=about)),
    ]


def _comment(forger: Forger, says: str, content: ItemContent) -> Forged:
    path = f"{forger.item}/{sha256(says.encode())[:16]}"
    data = CommentSubmitted(
        submission_id=fresh_id(),
        item_id=item_id("comment", "en", path),
        lang="en",
        path=path,
        content=content.to_bytes(),
        content_hash=sha256(content.to_bytes()),
        submitted_by=Actor(id="prove", name="prove", via="console"),
    )
    return Forged(says, forger.event("comment.submitted", data, MARK), "", "comment.submitted")


def _by_staff(forger: Forger) -> Forged:
    """A comment that did not come from a visitor."""
    content = ItemContent(title="Probe", body="x", about=forger.item)
    path = f"{forger.item}/staff"
    data = ItemSubmitted(
        submission_id=fresh_id(),
        item_id=item_id("comment", "en", path),
        kind="comment",
        lang="en",
        path=path,
        content=content.to_bytes(),
        content_hash=sha256(content.to_bytes()),
        submitted_by=Actor(id="prove", name="prove"),
    )
    return Forged("a comment by the console", forger.event("item.submitted", data, MARK), "", "item.submitted")


_LEFT = """SELECT 'a share link' FROM core.link_changes WHERE nonce = $1 UNION ALL SELECT 'a gate entry' FROM core.gate_log WHERE item_id = $2::uuid
  UNION ALL SELECT 'a comment' FROM app.items WHERE kind = 'comment' AND path LIKE $2 || '/%'"""


async def _nothing_changed(target: Target, book: Book, forger: Forger) -> None:
    args = [forger.token, str(forger.item)]
    left: Attempt = {"kind": "rows", "role": "bridge", "database": DATABASES["bridge"], "query": _LEFT, "args": args}
    (outcome,) = await target.run("bridge", [left])
    book.holds("bridge", "none of it is recorded as a share link or a comment", ", ".join(each[0] for each in outcome["value"]))  # fmt: skip


CHECKED, SECOND = ["23514"], ["23505"]
_COLUMNS = "link_id, item_id, action, token_hash, expires_at, statement, signature, key_id, statement_hash, person_id, person_name, via, reason, nonce"


async def check_rows(target: Target, book: Book) -> None:
    """What the database itself refuses the lock."""
    link, other = (uuid5(UUID(int=0), f"link {each} {target.token}") for each in ("one", "other"))
    begun, closed = [_row(link, "open")], [_row(link, "open"), _row(link, "close")]
    tried = {
        "a share link that is opened twice": (begun, _row(link, "open", "again"), SECOND),
        "a share link that is closed twice": (closed, _row(link, "close", "again"), SECOND),
        "a share link that is opened again after it was closed": (closed, _row(link, "open", "again"), SECOND),
        "another share link with the same token": (begun, _row(other, "open", hashed="one"), SECOND),
        "a share link that an agent opens": ([], _row(link, "open", via="agent"), CHECKED),
        "a share link that is something else than opened or closed": ([], _row(link, "widen"), CHECKED),
    }
    attempts: list[Attempt] = [
        {
            "kind": "sql",
            "role": "pgadm",
            "database": DATABASES["bridge"],
            "before": [*before, "SET LOCAL ROLE bridge"],
            "statement": statement,
            "codes": codes,
        }
        for before, statement, codes in tried.values()
    ]
    for says, outcome in zip(tried, await target.run("pgadm", attempts), strict=True):
        book.outcome("bridge", f"core: {says}", outcome)


def _row(link: UUID, action: str, name: str = "", *, hashed: str = "", via: str = "console") -> str:
    own = f"convert_to('{action} {name} {link}', 'UTF8')"
    signed = f"{own}, ''::bytea, 'probe', encode(sha256({own}), 'hex'), 'mona', 'probe', '{via}', 'probe', 'probe'"
    of = hashed or (f"{name} {link}" if name else "one")
    return f"""INSERT INTO core.link_changes ({_COLUMNS}) VALUES ('{link}', '{link}', '{action}', '{of}', now() + interval '1 day', {signed})"""


async def check_doors(book: Book, base: str) -> None:
    """A token that opens nothing tells nothing; nobody writes about what they cannot see, or without the page's own form."""
    if await shut(base):
        return
    wrong, unknown = await get(base, f"/l/{NO_TOKEN}"), await get(base, f"/{probe_path(NO_TOKEN)}")
    book.same("visitor", "a wrong share link is like any other wrong address", _seen(unknown), _seen(wrong))  # fmt: skip
    check_private(book, "visitor", "a wrong share link", wrong)
    picture, other = await get(base, f"/l/{NO_TOKEN}.gif"), await get(base, f"/s/{NOBODY}.gif")
    book.same("visitor", "the counting picture is the same for a wrong share link", _seen(other), _seen(picture))  # fmt: skip
    for path in ("/comments", "/answers"):
        for says, body in {"what is not published": f"item_id={NOBODY}", "a wrong share link": f"link={NO_TOKEN}"}.items():  # fmt: skip
            answer = await send(base, "POST", path, FORM, f"{body}&token=probe&text=x&name=x&form=x")
            book.same("visitor", f"POST {path} about {says}", 404, answer.status)


def _seen(answer: Answer) -> str:
    return f"{answer.status}, body {sha256(answer.body.encode())[:12]}"
