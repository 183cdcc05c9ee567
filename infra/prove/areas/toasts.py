"""Area toasts: what somebody is told and is reminded of is nobody else's, is not rewritten, and comes from no page but ours (rules 22, 24; S8)."""

# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608
import json
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from infra.prove.areas.chat import shape
from infra.prove.check import Book, Check
from infra.prove.fetch import Answer, get, send
from infra.prove.target import Attempt, Target
from shared.ids import fresh_id
from shared.settings import DATABASES

_MINE, _OTHERS = "prove-mine", "prove-others"
REFUSED = "42501"
ROOM = 500
"""Notifications of one owner that are kept (services/agent/notifications)."""
EVIL = "https://evil.example"
JSON = {"Content-Type": "application/json"}


def _as(owner: str) -> str:
    return f"SELECT set_config('app.owner_kind', 'user', true), set_config('app.owner_id', '{owner}', true)"


def _told(owner: str = _MINE, more: tuple[str, str] = ("", ""), rows: int = 1) -> str:
    columns = f"owner_kind, owner_id, notification_id, title, text, due_at{more[0]}"
    return f"INSERT INTO core.notifications ({columns}) SELECT 'user', '{owner}', gen_random_uuid(), 'x', 'x', now(){more[1]} FROM generate_series(1, {rows})"


BEFORE = (_as(_OTHERS), _told(_OTHERS), _as(_MINE), _told())
ATTEMPTS: dict[str, tuple[str, str]] = {
    "rewrite what somebody was told": ("UPDATE core.notifications SET text = 'y'", REFUSED),
    "say that it was due at another time": ("UPDATE core.notifications SET due_at = now() + interval '1 day'", REFUSED),
    "a notification with a time of its own": (_told(more=(", at", ", now() - interval '1 day'")), REFUSED),
    "a notification that nobody is shown": (_told(more=(", read_at", ", now()")), REFUSED),
    "a notification of another owner": (_told(_OTHERS), REFUSED),
    "give a notification to another owner": (f"UPDATE core.notifications SET owner_id = '{_OTHERS}'", REFUSED),
}  # fmt: skip
"""What is tried as the owner of one of both, and the code that it must be refused with."""
_THEIRS = f"FROM core.notifications WHERE owner_id = '{_OTHERS}'"
WITHOUT_EFFECT: dict[str, tuple[str, str]] = {
    "read what another owner was told": ("SELECT 1", f"SELECT NOT EXISTS (SELECT {_THEIRS})"),
    "read what anybody was told as nobody": (_as(""), "SELECT NOT EXISTS (SELECT FROM core.notifications)"),
    "mark another owner's as read": (f"UPDATE core.notifications SET read_at = now() WHERE owner_id = '{_OTHERS}'; {_as(_OTHERS)}", f"SELECT bool_and(read_at IS NULL) {_THEIRS}"),
    "delete what another owner was told": (f"DELETE {_THEIRS}; {_as(_OTHERS)}", f"SELECT count(*) = 1 {_THEIRS}"),
    "fill the database with notifications": (_told(rows=ROOM + 9), f"SELECT count(*) <= {ROOM} FROM core.notifications"),
}  # fmt: skip


async def check(target: Target) -> list[Check]:
    book = Book("toasts")
    await check_rows(target, book)
    try:
        await check_pages(book, target.config.urls["workspace"])
    except (OSError, HTTPException, ValueError, KeyError) as error:
        book.add("prove", "reach the workspace", "an answer", "no answer", f"{type(error).__name__}: {error}")
    return book.checks


async def check_rows(target: Target, book: Book) -> None:
    """With the agent's own role, in its own database."""
    tried: dict[str, Attempt] = {
        **{says: _sql(statement, codes=[code]) for says, (statement, code) in ATTEMPTS.items()},
        **{says: _sql(statement, verify=verify) for says, (statement, verify) in WITHOUT_EFFECT.items()},
    }
    for says, outcome in zip(tried, await target.run("agent", list(tried.values())), strict=True):
        book.outcome("agent", says, outcome)


def _sql(statement: str, **more: object) -> Attempt:
    return {"kind": "sql", "role": "agent", "database": DATABASES["agent"], "before": list(BEFORE), "statement": statement, **more}  # fmt: skip


@dataclass(frozen=True)
class Visitor:
    """A guest of this run with a reminder that never comes due while it lasts."""

    headers: dict[str, str]
    task: str


async def check_pages(book: Book, base: str) -> None:
    one, two = await _arrive(base), await _arrive(base)
    try:
        for method, path, body in ADDRESSES:
            none = str(fresh_id())
            mine, nothing = [
                await _ask(base, method, path.format(each), body, two.headers) for each in (one.task, none)
            ]
            book.add("another guest", f"{method} {path} is refused", "404", str(mine.status))
            book.same("another guest", f"{method} {path} tells nothing", shape(nothing), shape(mine))
            if method != "GET":
                await _forged(book, base, one, (method, path.format(one.task), body), f"{method} {path}")
        there = await get(base, f"/api/v1/tasks/{one.task}", one.headers)
        book.add(
            "other guests and foreign pages",
            "change a guest's reminder",
            "active",
            json.loads(there.body).get("state", "gone"),
        )
        for says, headers in (("a guest", one.headers), ("nobody", {})):
            book.same(
                says, "GET /api/v1/notifications finds", "[]", (await get(base, "/api/v1/notifications", headers)).body
            )
    finally:
        for each in (one, two):
            await send(base, "DELETE", "/api/v1/me/visit", each.headers)
    book.same(
        "a guest", "the reminders of a visit that is over", "[]", (await get(base, "/api/v1/tasks", one.headers)).body
    )


_ONE = "/api/v1/tasks/{}"
ADDRESSES = (
    ("GET", "/tasks/{}", ""), ("GET", _ONE, ""), ("GET", _ONE + "/runs", ""), ("PATCH", _ONE, '{"title": "mine"}'),
    ("POST", _ONE + "/pause", ""), ("POST", _ONE + "/resume", ""), ("DELETE", _ONE, ""),
)  # fmt: skip


async def _arrive(base: str) -> Visitor:
    answer = await send(base, "POST", "/api/v1/turns", JSON, json.dumps({"text": "hello"}))
    said: dict[str, Any] = json.loads(answer.body)
    headers = {"Cookie": answer.header("set-cookie").split(";")[0], "X-Form-Token": said["token"]}
    made = await _ask(base, "POST", "/api/v1/tasks", '{"when": "in 5 hours", "text": "x"}', headers)
    return Visitor(headers, json.loads(made.body)["task_id"])


async def _forged(book: Book, base: str, one: Visitor, asked: tuple[str, str, str], says: str) -> None:
    """What changes something needs the token of the visit, and no foreign page may send it even so."""
    method, path, body = asked
    answer = await _ask(base, method, path, body, {**one.headers, "X-Form-Token": "f" * 64})
    book.add("a guest's browser", f"{says} with a made-up token", "403", str(answer.status))
    answer = await _ask(base, method, path, body, {**one.headers, "Origin": EVIL})
    book.add("a foreign page", says, "403", str(answer.status))


async def _ask(base: str, method: str, path: str, body: str, headers: dict[str, str]) -> Answer:
    if method == "GET":
        return await get(base, path, headers)
    return await send(base, method, path, {**JSON, **headers}, body)
