"""A file is tried, or goes into its table: all good rows in one transaction, or none."""

import asyncio
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping

from services.console.apps.views import get_app
from services.console.imports import store
from services.console.imports.checking import Bad, Checked, check_rows
from services.console.imports.domain import DELIMITERS, Options, Sheet, open_sheet
from services.console.people.domain import Caller
from services.console.records.domain import Shape, by_whom, shape_of
from services.console.records.store import worded
from shared.clock import now
from shared.db import Database, Tx
from shared.errors import Conflict, NotFound, Refused, SchleuseError

TOLD = 5000
"""Rows between two words on how far it is."""


@dataclass
class Report:
    """What came of a file. `mended`: lines with unquoted separators inside a value. `added` and `changed` are what a trial would do, too."""

    encoding: str
    delimiter: str
    left_out: list[str]
    rows: int
    bad_count: int
    bad: list[Bad] = field(default_factory=list)
    mended_count: int = 0
    mended: list[int] = field(default_factory=list)
    added: int = 0
    changed: int = 0

    def plain(self) -> dict[str, Any]:
        return vars(self) | {"bad": [{"line": each.line, "words": each.words} for each in self.bad]}


async def import_file(db: Database, import_id: UUID, by: Caller, *, dry_run: bool) -> Report:
    """NotFound for one that there is not (any more), Conflict for one that somebody is importing. Refused when lines are bad and none may be left out; then nothing was kept."""
    started = await _start(db, import_id, by, dry_run=dry_run)
    try:
        report = await _work(db, started, by, dry_run=dry_run)
    except SchleuseError as error:
        await _end(db, import_id, "failed", error.message)
        raise
    refused = not dry_run and report.bad_count and not started.options.leave_bad
    words = (
        f"{report.bad_count:,} lines do not fit; nothing was kept. Put them right, or leave them out."
        if refused
        else ""
    )
    state = "checked" if dry_run or refused else "done"
    await _end(db, import_id, state, words, report)
    return report


@dataclass(frozen=True)
class _Started:
    import_id: UUID
    shape: Shape
    options: Options
    raw: bytes = field(repr=False)


async def _start(db: Database, import_id: UUID, by: Caller, *, dry_run: bool) -> _Started:
    async with db.transaction() as tx:
        found = await store.find(tx, import_id, lock=True)
        raw = await store.file(tx, import_id)
        if found is None or found["by_id"] != by.id or not raw:
            raise NotFound("There is no such file to import; it is kept for a day. Send it again.")
        if found["state"] in {"checking", "importing"} and (now() - found["moved_at"]).total_seconds() < 120:
            raise Conflict("This file is being read now.", code="busy")
        await store.move(
            tx, import_id, now(), state="checking" if dry_run else "importing", dry_run=dry_run, reason="", rows_done=0
        )
        app = await get_app(tx, found["app"])
    return _Started(import_id, shape_of(app, found["table_name"]), _options(found), raw)


def _options(found: RowMapping) -> Options:
    return Options(**(found["options"] | {"skip": tuple(found["options"]["skip"])}))


async def _work(db: Database, started: _Started, by: Caller, *, dry_run: bool) -> Report:
    sheet = open_sheet(started.shape, started.raw, started.options)
    checked = Checked(tuple(each for each in sheet.columns if each))
    told = 0
    for count in check_rows(started.shape, sheet, started.options, checked):
        await asyncio.sleep(0)
        if count - told >= TOLD:
            told = count
            async with db.transaction() as tx:
                await store.move(tx, started.import_id, now(), rows_done=count)
    async with db.transaction() as tx:
        return await _put(tx, started, sheet, checked, by, dry_run=dry_run)


async def _put(tx: Tx, started: _Started, sheet: Sheet, checked: Checked, by: Caller, *, dry_run: bool) -> Report:
    shape, replace = started.shape, started.options.replace
    if replace and not set(shape.key) <= set(checked.columns):
        raise Refused(f"To replace rows the file must have {', '.join(shape.key)}.", code="header")
    async with worded(tx, shape):
        await store.lay_beside(tx, shape, checked)
    checked.without(await store.unfit(tx, shape, checked.columns, replace=replace))
    rows = len(checked.rows) + checked.bad_count
    how = (sheet.encoding, DELIMITERS[sheet.delimiter], sheet.left_out)
    report = Report(*how, rows, checked.bad_count, checked.bad, checked.mended_count, checked.mended)
    if dry_run or (checked.bad_count and not started.options.leave_bad):
        report.added = len(checked.rows)
        return report
    whose = by_whom(by, "import", started.import_id)
    report.added, report.changed = await store.put_in(tx, shape, checked.columns, checked.lines, whose, replace=replace)
    return report


async def _end(db: Database, import_id: UUID, state: str, words: str, report: Report | None = None) -> None:
    async with db.transaction() as tx:
        told = (
            {}
            if report is None
            else {
                "report": report.plain(),
                "rows_done": report.rows,
                "rows_total": report.rows,
                "rows_bad": report.bad_count,
            }
        )
        await store.move(tx, import_id, now(), state=state, reason=words, **told)
        if state == "done":
            await store.drop_file(tx, import_id)
