"""Area uploads: files of a workspace are their owner's alone, whatever name they are asked by; what is put in counts as from outside; the documentation
is nobody's to change (rules 14, 19, 24; S8, S11)."""

import asyncio
import json
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from urllib.parse import quote, urlencode

from infra.prove.areas.access import somebody
from infra.prove.areas.chat import shape
from infra.prove.check import Book, Check
from infra.prove.fetch import Answer, get, send
from infra.prove.target import Target

EVIL = "https://evil.example"
JSON = {"Content-Type": "application/json"}
CONTENT, FILES = "/api/v1/files/content", "/api/v1/files"
PAGE = "services/agent/manual/texts/en/files.md"
TEXT = "<script>1</script> text that somebody else may have written"
ELSEWHERE = (
    "../x", "drafts/../../x", "/etc/passwd", "..\\x", "./x", "drafts//x", ".memory.md", "drafts/.memory.md", "..", "x\x00.txt", "x\ny", "‥/x", "a∕b",
    "\u202efdp.exe", "a\u200bb", "CON", "nul.txt", "x.", "a" * 256, "/".join("a" * 9),
)  # fmt: skip
"""Names that mean another place, are read as another name, or are none."""
OURS = ("progress.md", "Progress.md", "docs/x.md", "docs/en/files.md")
"""What is written by tools of its own, or lies elsewhere."""
LISTED = 5
MOST_HOMES = 8


async def check(target: Target) -> list[Check]:
    book = Book("uploads")
    await check_reach(target, book)
    try:
        async with somebody(target) as (_, mine), somebody(target) as (_, theirs):
            await check_files(target, book, mine, theirs)
    except (OSError, HTTPException, ValueError, KeyError) as error:
        book.add("prove", "reach the workspace", "an answer", "no answer", f"{type(error).__name__}: {error}")
    return book.checks


async def check_reach(target: Target, book: Book) -> None:
    """Every person's folder is closed to all but the agent; nobody of ours writes the documentation that the agent answers from."""
    tried = [("list", each, "a person's folder") for each in _homes(target)]
    tried += [("create", each, "a person's folder") for each in _homes(target)]
    tried.append(("write", target.runtime.code / PAGE, "the documentation"))
    attempts = [{"kind": "files", "op": op, "path": str(path)} for op, path, _ in tried]
    if not target.separated:
        book.open(f"OS user {target.who.users['console']}", "list: a person's folder")
        return
    for user, outcomes in zip(target.users, await asyncio.gather(*(target.run(user, attempts) for user in target.users)), strict=True):  # fmt: skip
        for (op, _, says), outcome in zip(tried, outcomes, strict=True):
            may = user == "agent" and says != "the documentation"
            book.outcome(f"OS user {user}", f"{op}: {says}", outcome, "done" if may else "refused")


def _homes(target: Target) -> list[Path]:
    """Some of them; none where this process may not look."""
    with suppress(OSError):
        return sorted(target.layout.workspace.glob("user-*"))[:MOST_HOMES]
    return []


async def check_files(target: Target, book: Book, mine: dict[str, str], theirs: dict[str, str]) -> None:
    """`mine`, `theirs`: the headers of two people."""
    base = target.config.urls["workspace"]
    try:
        put = await _put(base, mine, "uploads/prove.html", TEXT)
        book.add("owner", "put a file in", "201", str(put.status), put.body)
        await _outside(book, base, mine)
        await _names(book, base, mine)
        await _others(book, base, theirs)
        await _nobody(book, base, mine)
    finally:
        for each in (mine, theirs):
            await send(base, "POST", "/api/v1/forget", {**each, **JSON}, '{"confirm": "delete everything"}')


async def _outside(book: Book, base: str, mine: dict[str, str]) -> None:
    listed = json.loads((await get(base, f"{FILES}?folder=uploads", mine)).body)
    marks = [each["from_outside"] for each in listed["entries"]]
    book.holds("owner", "what is put in counts as from outside", "" if marks == [True] else f"{marks}")
    shown = await get(base, _at("uploads/prove.html"), mine)
    kept = shown.header("content-disposition").startswith("attachment") and "sandbox" in shown.header("content-security-policy")  # fmt: skip
    book.holds("owner", "a file of foreign HTML is kept, and never shown as a page of ours", "" if kept else str(shown.headers))  # fmt: skip
    large = await send(base, "PUT", _at("uploads/large"), {**mine, "Content-Length": str(201 << 20)})
    book.add("owner", "put more than 200 MB in", "413", str(large.status))


async def _names(book: Book, base: str, mine: dict[str, str]) -> None:
    """None is written, none is read or deleted, and nothing comes of it."""
    for name in (*ELSEWHERE, *OURS):
        tried = [await _put(base, mine, name, "x"), await _move(base, mine, "uploads/prove.html", name)]
        said = sorted({str(each.status) for each in tried})
        book.add("owner", f"put a file at, move one to {name[:40]!r}", "422", ", ".join(said))
        tried = [await send(base, "DELETE", f"{FILES}?{urlencode({'path': name})}", mine)]
        tried += [] if name in OURS else [await get(base, _at(name), mine)]
        done = [str(each.status) for each in tried if each.status not in (404, 422)]
        book.holds("owner", f"delete and read {name[:40]!r} find nothing", ", ".join(done))
    listed = json.loads((await get(base, FILES, mine)).body)
    names = [each["name"] for each in listed["entries"] if not each["folder"]]
    book.same("owner", "files that came of it", [], names)


async def _others(book: Book, base: str, theirs: dict[str, str]) -> None:
    """Another's file is like none (rule 24)."""
    for method, path, body in _addresses("uploads/prove.html"):
        there = await send(base, method, path, {**theirs, **JSON}, body)
        none = await send(base, method, path.replace("prove.html", "none.html"), {**theirs, **JSON}, body.replace("prove.html", "none.html"))  # fmt: skip
        shown = path.partition("?")[0]
        book.add("another person", f"{method} {shown} of another's file", "404", str(there.status))
        book.same("another person", f"{method} {shown} tells nothing", shape(none), shape(there))


async def _nobody(book: Book, base: str, mine: dict[str, str]) -> None:
    for method, path, body in (*_addresses("uploads/prove.html"), ("GET", FILES, ""), ("GET", f"{FILES}/search?q=text", ""), ("PUT", _at("x.txt"), "x")):  # fmt: skip
        found = await send(base, method, path, JSON, body)
        book.add("a guest", f"{method} {path.partition('?')[0]}", "401", str(found.status))
        if method != "GET":
            foreign = await send(base, method, path, {**mine, **JSON, "Origin": EVIL}, body)
            book.add("a foreign page", f"{method} {path.partition('?')[0]}", "403", str(foreign.status))
    form = {"Content-Type": "multipart/form-data; boundary=b"}
    answer = await send(base, "POST", "/files", form, '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nx\r\n--b--\r\n')  # fmt: skip
    book.add("a guest", "POST /files with a file", "401", str(answer.status))


def _addresses(path: str) -> list[tuple[str, str, str]]:
    named = json.dumps({"path": path})
    return [
        ("GET", _at(path), ""), ("DELETE", f"{FILES}?{urlencode({'path': path})}", ""), ("POST", f"{FILES}/vouch", named),
        ("POST", f"{FILES}/move", json.dumps({"path": path, "to": "drafts/taken.html"})),
    ]  # fmt: skip


def _at(path: str) -> str:
    return f"{CONTENT}?path={quote(path, safe='')}"


async def _put(base: str, who: dict[str, str], path: str, body: str) -> Answer:
    return await send(base, "PUT", _at(path), who, body)


async def _move(base: str, who: dict[str, str], path: str, to: str) -> Answer:
    return await send(base, "POST", f"{FILES}/move", {**who, **JSON}, json.dumps({"path": path, "to": to}))
