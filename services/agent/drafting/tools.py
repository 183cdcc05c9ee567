"""What the agent can do towards the console: look which tables it may know of, propose, and say what became of it. No tool installs, writes or deletes anything there."""

import json
from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from schemas.work import AppDeclaration, AppKind, CleanupJob, Condition, Table
from services.agent.conversations.texts import clean_value
from services.agent.drafting import store
from services.agent.drafting.known import Meant, date_column, find_table, folded, read_apps
from services.agent.drafting.usecases.hand_in import Draft, exact_rows, hand_in
from services.agent.proposals.domain import MAY_LOOK, STAFF
from services.agent.tools.domain import Arguments, Asked, Found, Tool
from shared.clock import now
from shared.db import Database, Tx
from shared.errors import NotFound, Refused
from shared.schedules.cleanup import understand_cleanup
from shared.schedules.telling import next_lines

MOST, MOST_ROWS, MOST_DAYS = 50, 200, 36_500
Cell = str | int | float | bool | None
NEXT = "It waits in the console until an owner or admin has decided; nothing is done before. The outcome is told here."


class NoArguments(Arguments):
    """None."""


class JobArguments(Arguments):
    """`table`: a table, or app.table. `older_than_days`: rows older than so many days of 24 hours go. `date_column`: which date counts; empty: when a row came to be.
    `conditions`: further ones; all must hold. `schedule`: in the user's own words, such as `every Sunday`. `zone`: only when the user named one."""

    table: str = Field(min_length=1, max_length=120)
    older_than_days: int | None = Field(default=None, ge=1, le=MOST_DAYS)
    date_column: str = Field(default="", max_length=60)
    conditions: tuple[Condition, ...] = Field(default=(), max_length=9)
    schedule: str = Field(min_length=1, max_length=300)
    zone: str = Field(default="", max_length=64)
    name: str = Field(default="", max_length=200)
    why: str = Field(default="", max_length=2000)


class AppArguments(Arguments):
    """`app`: its short name (lower case, `-`). For an app that is there: only the tables and columns that come to it. `columns` are internal unless they say shareable."""

    app: str = Field(min_length=1, max_length=40)
    title: str = Field(default="", max_length=200)
    kind: AppKind = "application"
    about: str = Field(default="", max_length=300)
    tables: tuple[Table, ...] = Field(min_length=1, max_length=20)
    why: str = Field(default="", max_length=2000)


class RecordArguments(Arguments):
    """`table`: a table, or app.table. `rows`: values by column. `keys`: to change rows that are there, what names each, in the same order."""

    table: str = Field(min_length=1, max_length=120)
    rows: list[dict[str, Cell]] = Field(min_length=1, max_length=MOST_ROWS)
    keys: list[dict[str, Cell]] = Field(default=[], max_length=MOST_ROWS)
    why: str = Field(default="", max_length=2000)


class ListArguments(Arguments):
    """One's own proposals, the newest first. `about`: only those about apps, records or jobs."""

    about: Literal["", "app", "record", "job"] = ""
    limit: int = Field(default=10, ge=1, le=MOST)


class DraftingTools:
    """`may_propose` reads the switch. `console_url`: where a person decides."""

    def __init__(self, db: Database, may_propose: Callable[[], bool], console_url: str) -> None:
        self._db, self._may_propose, self._console_url = db, may_propose, console_url

    async def tables(self, asked: Asked, given: NoArguments) -> Found:
        async with self._db.reading() as tx:
            apps = await self._apps(tx)
        told = [_told_app(each) for each in apps]
        note = "" if told else "Staff let you know of an app in the console, under Apps; its rows are never among it."
        count = sum(len(each.tables) for each in apps)
        return Found({"apps": told, "note": note}, f"{count} table{'' if count == 1 else 's'}")

    async def job(self, asked: Asked, given: JobArguments) -> Found:
        said = JobArguments.model_validate(clean_value(given.model_dump()))
        async with self._db.owned(asked.me.owner) as tx:
            job = _job_of(asked, said, find_table(await self._apps(tx), said.table))
            when = understand_cleanup(job.schedule, job.zone, now())
            draft = Draft("job", job.name, f"{job.app}.{job.table}", job=job)
            proposal = await hand_in(tx, asked, draft, said.why, may_propose=self._may_propose())
        lines = [{"local": each.local, "utc": each.utc, "note": each.note} for each in next_lines(when, now())]
        what = {
            "app": job.app,
            "table": job.table,
            "conditions": [each.model_dump(mode="json") for each in job.conditions],
        }
        times = {"when": when.words, "zone": when.zone, "notes": list(when.notes), "next": lines}
        return self._handed_in(proposal, job.name, what | times)

    async def app(self, asked: Asked, given: AppArguments) -> Found:
        said = AppArguments.model_validate(clean_value(given.model_dump(mode="json")))
        async with self._db.owned(asked.me.owner) as tx:
            declaration = _declaration_of(said, await self._apps(tx))
            draft = Draft("app", f"{declaration.title} ({declaration.slug})", declaration.slug, declaration)
            proposal = await hand_in(tx, asked, draft, said.why, may_propose=self._may_propose())
        return self._handed_in(proposal, draft.title, {"app": declaration.slug, "tables": [each.name for each in said.tables]})  # fmt: skip

    async def records(self, asked: Asked, given: RecordArguments) -> Found:
        said = RecordArguments.model_validate(clean_value(given.model_dump()))
        async with self._db.owned(asked.me.owner) as tx:
            meant = find_table(await self._apps(tx), said.table)
            _check_rows(meant, said)
            keys = exact_rows(said.keys) if said.keys else ""
            title = f"{len(said.rows)} row{'' if len(said.rows) == 1 else 's'} of {meant.app}.{meant.name}"
            draft = Draft("record", title, f"{meant.app}.{meant.name}", rows=exact_rows(said.rows), keys=keys)
            proposal = await hand_in(tx, asked, draft, said.why, may_propose=self._may_propose())
        return self._handed_in(proposal, title, {"app": meant.app, "table": meant.name, "rows": len(said.rows)})

    async def listed(self, asked: Asked, given: ListArguments) -> Found:
        async with self._db.owned(asked.me.owner) as tx:
            rows = await store.listed(tx, asked.me.owner, given.limit, given.about)
        told = [_told_draft(row) | {"link": self._link(row["proposal_id"])} for row in rows]
        return Found({"proposals": told}, f"{len(rows)} proposals to the console")

    async def _apps(self, tx: Tx) -> list[AppDeclaration]:
        return read_apps(await store.apps(tx))

    def _handed_in(self, proposal: Any, title: str, what: dict[str, Any]) -> Found:
        told = {"proposal_id": str(proposal), "state": "handed_in", "link": self._link(proposal), "title": title}
        return Found(told | what | {"next_step": NEXT}, f"proposed: {title}"[:200])

    def _link(self, proposal: Any) -> str:
        return f"{self._console_url}/proposals/{proposal}"


def _job_of(asked: Asked, said: JobArguments, meant: Meant) -> CleanupJob:
    conditions = list(said.conditions)
    if said.older_than_days is not None:
        column = date_column(meant, said.date_column)
        conditions.insert(0, Condition(column=column, op="older_than", value=str(said.older_than_days)))
    if not conditions:
        raise Refused("Say which rows are to go: how old, or another condition.", code="condition")
    if meant.table is not None:
        known = {each.name for each in meant.table.columns} | ({"id"} if not meant.table.key else set())
        for each in conditions:
            if each.column not in known:
                raise Refused(f"{meant.name} has no column {each.column}; it has {', '.join(sorted(known))}.", code="column")  # fmt: skip
    age = f", older than {said.older_than_days} days" if said.older_than_days else ""
    name = said.name.strip() or f"Clean up {meant.name}{age}"
    return CleanupJob(name=name, app=meant.app, table=meant.name, conditions=tuple(conditions), schedule=said.schedule, zone=said.zone or asked.me.zone)  # fmt: skip


def _declaration_of(said: AppArguments, known: list[AppDeclaration]) -> AppDeclaration:
    """For an app that is known, what is there stays as it is."""
    slug = folded(said.app).replace("_", "-")[:40]
    there = next((each for each in known if each.slug == slug), None)
    if there is not None:
        return AppDeclaration(slug=slug, title=there.title, kind=there.kind, about=there.about, tables=said.tables)
    return AppDeclaration(slug=slug, title=said.title or said.app, kind=said.kind, about=said.about, tables=said.tables)


def _check_rows(meant: Meant, said: RecordArguments) -> None:
    if meant.table is None:
        raise NotFound("You know of no such table; staff let you know of an app in the console, under Apps.", code="table")  # fmt: skip
    columns = {each.name for each in meant.table.columns} | {"id"}
    for each in (*said.rows, *said.keys):
        if unknown := sorted(each.keys() - columns):
            raise Refused(f"{meant.name} has no column {', '.join(unknown)}; it has {', '.join(sorted(columns))}.", code="column")  # fmt: skip
    if said.keys and len(said.keys) != len(said.rows):
        raise Refused("There is a key for each row that changes, in the same order.", code="keys")


def _told_app(app: AppDeclaration) -> dict[str, Any]:
    tables = [{"name": each.name, "title": each.title, "key": list(each.key), "columns": [_told_column(one) for one in each.columns]} for each in app.tables]  # fmt: skip
    return {"app": app.slug, "title": app.title, "about": app.about, "tables": tables}


def _told_column(column: Any) -> dict[str, Any]:
    told: dict[str, Any] = column.model_dump(mode="json", exclude_defaults=True)
    return told | {"type": column.type}


def _told_draft(row: Any) -> dict[str, Any]:
    names = ("about", "title", "place", "state", "reason", "rows", "bytes", "undated", "understood")
    told = {name: row[name] for name in names} | {"next": json.loads(row["next"]), "proposal_id": str(row["proposal_id"])}  # fmt: skip
    return told | {"at": (row["moved_at"] or row["proposed_at"]).isoformat(timespec="seconds")}


def make_tools(db: Database, may_propose: Callable[[], bool], console_url: str) -> tuple[Tool, ...]:
    mine = DraftingTools(db, may_propose, console_url)
    job = (
        "Propose a cleanup job: rows of a table that go at set times, such as `delete vsg_runs rows older than 90 days every Sunday`. The console counts first (dry run), and"
        " nothing is deleted before a person switches it on. The platform's own logs (audit, crossings, ledger, turns) are kept and cannot be meant."
    )
    app = "Propose an app of tables for the console, or more tables and columns for one that is there. A person installs it."
    records = "Propose new rows for a table, or other values for rows that are there. A person accepts them."
    return (
        Tool("list_tables", "Apps and tables of the console that staff let you know of, with their columns; no rows.", NoArguments, mine.tables, STAFF),
        Tool("propose_cleanup_job", job, JobArguments, mine.job, STAFF, writes="propose", own=False),
        Tool("propose_app", app, AppArguments, mine.app, STAFF, writes="propose", own=False),
        Tool("propose_records", records, RecordArguments, mine.records, STAFF, writes="propose", own=False),
        Tool("list_drafts", "What the user proposed to the console through you (apps, rows, cleanup jobs): a job's dry run and next times, and what a person decided.", ListArguments, mine.listed, MAY_LOOK),
    )  # fmt: skip
