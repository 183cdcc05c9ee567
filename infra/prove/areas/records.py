"""Area records: nobody reads or changes apps' rows who may not, every row stands in the history as somebody left it, and a file on its way is its sender's alone."""
# statements are composed of names of declarations, quoted, and nothing of them is kept
# ruff: noqa: S608

import asyncio
import json
from http.client import HTTPException
from urllib.parse import urlencode

from infra.prove.areas.guard import FORM, check_private
from infra.prove.check import Book, Check
from infra.prove.fetch import Answer, get, send
from infra.prove.guests import Guest, guests
from infra.prove.target import Attempt, Target
from schemas.work import AppDeclaration, Table
from shared.settings import DATABASES

LOOKED_AT = 300
"""Rows of a table that are compared with the history, the newest changes first."""
_APPS = "SELECT slug, convert_from(declaration, 'UTF8') FROM app.apps"
_PLACE = "/records/prove/rows"
READ = (
    "/applications/prove/rows",
    f"{_PLACE}/row?key=%5B%221%22%5D",
    f"{_PLACE}/history",
    f"{_PLACE}/export",
    "/answers",
)
CHANGE = ("row", "new", "cell", "delete", "undo", "import")
_FRESH = "_changed_at < now() - interval '5 seconds'"
"""What is being changed just now may be told a moment later to whoever looks at both."""


async def check(target: Target) -> list[Check]:
    book = Book("records")
    await check_rows(target, book)
    await check_traces(target, book)
    try:
        async with guests(target, "r") as found:
            await asyncio.gather(
                check_doors(book, target.config.urls["console"]),
                *(check_guest(book, target.config.urls["console"], each) for each in found),
            )
    except (OSError, HTTPException) as error:
        book.add("prove", "reach the console", "an answer", "no answer", f"{type(error).__name__}: {error}")
    return book.checks


async def check_rows(target: Target, book: Book) -> None:
    """What lies in an app's table is what somebody is recorded to have put there."""
    (outcome,) = await target.run("console", [_rows(_APPS)])
    apps = (
        [AppDeclaration.model_validate(json.loads(row[1])) for row in outcome["value"]]
        if outcome["got"] == "done"
        else []
    )
    tables = [(app.slug, table) for app in apps for table in app.tables if _comparable(table)]
    outcomes = await target.run("console", [_rows(unrecorded(slug, table)) for slug, table in tables])
    for (slug, table), found in zip(tables, outcomes, strict=True):
        rows = found["value"] if found["got"] == "done" else [[found["detail"]]]
        fault = f"{len(rows)} rows, such as {rows[0][0]}" if rows else ""
        book.holds(slug, f"every row of {table.name} is as its history left it", fault)
    book.holds(
        "console", "which apps there are can be read", "" if outcome["got"] == "done" else str(outcome["detail"])
    )


def _comparable(table: Table) -> bool:
    """Whose key is written the same by the database and by the console."""
    kinds = {each.name: each.type for each in table.columns}
    return all(kinds.get(name, "integer") in {"text", "integer", "date", "boolean"} for name in table.key)


def unrecorded(slug: str, table: Table) -> str:
    """Keys of rows whose newest entry is missing, says that they were deleted, or is older than the row's own word."""
    names = table.key or ("id",)
    key = "'[' || " + " || ',' || ".join(f"to_json({quoted(name)}::text)::text" for name in names) + " || ']'"
    newest = (
        "SELECT what FROM app.record_history h WHERE h.app = " + f"'{slug}' AND h.table_name = '{table.name}' AND h.row_key = r.row_key"
        " ORDER BY position DESC LIMIT 1"
    )  # fmt: skip
    rows = f"SELECT {key} AS row_key FROM {quoted('app_' + slug.replace('-', '_'))}.{quoted(table.name)} WHERE {_FRESH} ORDER BY _changed_at DESC LIMIT {LOOKED_AT}"
    return f"SELECT r.row_key FROM ({rows}) r WHERE coalesce(({newest}), 'deleted') = 'deleted'"


def quoted(name: str) -> str:
    return f'"{name}"'


TRACES = {
    "no entry of the history is by nobody": "SELECT position::text FROM app.record_history WHERE by_id = '' OR by_name = ''",
    "an entry is taken back once": "SELECT undoes::text FROM app.record_history WHERE undoes IS NOT NULL GROUP BY undoes HAVING count(*) > 1",
    "no file of an import lies here longer than two days": """
      SELECT p.import_id::text FROM app.import_pieces p LEFT JOIN app.record_imports i USING (import_id) WHERE i.import_id IS NULL OR i.moved_at < now() - interval '2 days'""",
    "a record that an answer became says which answer": """
      SELECT answer_id::text FROM app.form_answers a WHERE row_key IS NOT NULL AND NOT EXISTS (SELECT FROM app.record_history h WHERE h.batch = a.answer_id)""",
}  # fmt: skip


async def check_traces(target: Target, book: Book) -> None:
    outcomes = await target.run("console", [_rows(query) for query in TRACES.values()])
    for says, found in zip(TRACES, outcomes, strict=True):
        rows = found["value"] if found["got"] == "done" else [[found["detail"]]]
        book.holds("console", says, "; ".join(str(row[0]) for row in rows[:3]))


async def check_doors(book: Book, console: str) -> None:
    """Who is not signed in sees no row and changes none."""
    for path in READ:
        answer = await get(console, path)
        book.same("nobody", f"read {path.split('?')[0]}", "303 to /sign-in", _sent(answer))
        check_private(book, "nobody", path.split("?")[0], answer)
    for word in CHANGE:
        answer = await send(
            console, "POST", f"{_PLACE}/{word}", FORM | {"Origin": console}, urlencode({"key": '["1"]'})
        )
        book.same("nobody", f"change a row by {word}", "401", answer.status)
    for method, path in (("GET", "/api/v1/records"), ("GET", "/api/v1/records/prove/rows"), ("POST", "/api/v1/records/prove/rows"), ("DELETE", "/api/v1/records/prove/rows?key=1")):  # fmt: skip
        answer = await send(console, method, path, {"Content-Type": "application/json"}, '[{"a": "1"}]')
        book.same("nobody", f"{method} {path.split('?')[0]}", "401", answer.status)


async def check_guest(book: Book, console: str, guest: Guest) -> None:
    """A viewer changes nothing, by page or by token; nobody below a moderator says what answers become."""
    if guest.role == "viewer":
        bearer = {"Authorization": f"Bearer {guest.token}", "Content-Type": "application/json"}
        answer = await send(console, "POST", "/api/v1/records/prove/rows", bearer, '[{"a": "1"}]')
        book.same(guest.role, "add a row by token", True, answer.status in {403, 404})
    cookie = {"Cookie": f"console={guest.session}; __Host-console={guest.session}"}
    for word in CHANGE:
        answer = await send(
            console, "POST", f"{_PLACE}/{word}", FORM | cookie | {"Origin": console}, urlencode({"key": '["1"]'})
        )
        book.same(guest.role, f"change a row by {word} without the form's own token", "403", answer.status)


def _sent(answer: Answer) -> str:
    return f"{answer.status} to {answer.header('location').split('?')[0]}"


def _rows(query: str) -> Attempt:
    return {"kind": "rows", "role": "console", "database": DATABASES["console"], "query": query}
