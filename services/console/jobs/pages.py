"""Cleanup jobs as staff see them: all of them, one with its dry run and its switch, a run with the rows that can come back, a form for a new one."""

import json
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response
from starlette.routing import Route

from schemas.work import CleanupJob, Condition
from services.console.desk import Desk, Visit, go
from services.console.forms import Form, as_uuid, page_number
from services.console.jobs import store
from services.console.jobs.domain import Row, Wanted, coming, read_job, timetable
from services.console.jobs.reading import choices, get_job, going, kept
from services.console.jobs.rows.domain import words_of
from services.console.jobs.usecases.add_job import Origin, add_job
from services.console.jobs.usecases.dry_run_job import dry_run_job
from services.console.jobs.usecases.restore_rows import restore_rows
from services.console.jobs.usecases.set_job import set_job
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound, Refused, SchleuseError

SHOWN = 25
LINES = 3
"""Further conditions that the form has room for."""
OPS = ("equals", "not_equals", "less", "greater", "empty", "not_empty")


class JobPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        return [
            Route("/jobs", page(self.list)),
            Route("/jobs/new", page(self.form, "connectors")),
            Route("/jobs/new", page(self.add, "connectors"), methods=["POST"]),
            Route("/jobs/runs/{run_id}", page(self.run)),
            Route("/jobs/runs/{run_id}/restore", page(self.restore, "connectors"), methods=["POST"]),
            Route("/jobs/{job_id}", page(self.one)),
            Route("/jobs/{job_id}/dry-run", page(self.dry_run, "connectors"), methods=["POST"]),
            Route("/jobs/{job_id}/set", page(self.set, "connectors"), methods=["POST"]),
            Route("/jobs/{job_id}/run", page(self.run_now, "connectors"), methods=["POST"]),
        ]

    async def list(self, visit: Visit) -> Response:
        async with self._console.db.reading() as tx:
            jobs, runs = await store.listed(tx), await store.runs(tx, None, 30)
        return await visit.show("jobs.html", jobs=[(row, _conditions(row)) for row in jobs], runs=runs)

    async def form(self, visit: Visit) -> Response:
        return await self._form(visit, Form())

    async def _form(self, visit: Visit, typed: Form, refused: SchleuseError | None = None) -> Response:
        async with self._console.db.reading() as tx:
            tables = await choices(tx)
        status = 200 if refused is None else refused.status
        return await visit.show("job_new.html", status, tables=tables, typed=typed, ops=OPS, lines=range(LINES), refused=refused)  # fmt: skip

    async def add(self, visit: Visit) -> Response:
        try:
            job = _typed(visit.form)
            async with self._console.db.transaction() as tx:
                job_id = await add_job(tx, job, Origin(visit.caller.id, visit.caller.name, visit.caller.name), now())
                await dry_run_job(tx, await get_job(tx, job_id), visit.caller.name)
        except (Refused, NotFound) as refused:
            return await self._form(visit, visit.form, refused)
        return go(f"/jobs/{job_id}")

    async def one(self, visit: Visit) -> Response:
        return await self._show(visit, _id(visit, "job_id"))

    async def _show(self, visit: Visit, job_id: UUID, refused: SchleuseError | None = None) -> Response:
        page = page_number(visit.request)
        async with self._console.db.reading() as tx:
            row = await get_job(tx, job_id)
            there, fault = await self._going(tx, row, page)
            told = {"settings": await store.settings(tx, job_id), "runs": await store.runs(tx, job_id)}
        status = 200 if refused is None else refused.status
        about = {"row": row, "conditions": _conditions(row), "when": _when(row), "there": there, "fault": fault}
        return await visit.show("job.html", status, **about, **told, page=page, refused=refused, typed=visit.form.text("reason"))  # fmt: skip

    async def _going(self, tx: Tx, row: Row, page: int) -> tuple[Any, str]:
        """The rows of the newest dry run, as they are now, or why they cannot be shown."""
        if not row["rows"]:
            return None, ""
        try:
            return await going(tx, row, row["as_of"], SHOWN, (page - 1) * SHOWN), ""
        except (Refused, NotFound) as fault:
            return None, fault.message

    async def dry_run(self, visit: Visit) -> Response:
        job_id = _id(visit, "job_id")
        async with self._console.db.transaction() as tx:
            await dry_run_job(tx, await get_job(tx, job_id), visit.caller.name)
        return go(f"/jobs/{job_id}")

    async def set(self, visit: Visit) -> Response:
        job_id, form = _id(visit, "job_id"), visit.form
        dry_run = as_uuid(form.text("dry_run")) if form.text("dry_run") else None
        wanted = Wanted(job_id, form.text("setting"), form.text("reason"), dry_run, form.mark("hash"))
        try:
            async with self._console.db.transaction() as tx:
                await set_job(tx, await self._console.ring.signing(tx), visit.caller, wanted)
                tx.after_commit(self._told)
        except SchleuseError as refused:
            if isinstance(refused, NotFound):
                raise
            return await self._show(visit, job_id, refused)
        return go(f"/jobs/{job_id}")

    def _told(self) -> None:
        self._console.cleanup.wake()
        self._console.live.tell(event="job", item_id="jobs")
        self._console.live.tell(event="proposal", item_id="proposals")

    async def run_now(self, visit: Visit) -> Response:
        job_id = _id(visit, "job_id")
        try:
            run_id = await self._console.cleanup.run_now(visit.caller, job_id)
        except Refused as refused:
            return await self._show(visit, job_id, refused)
        return go(f"/jobs/runs/{run_id}")

    async def run(self, visit: Visit) -> Response:
        return await self._show_run(visit, _id(visit, "run_id"))

    async def _show_run(self, visit: Visit, run_id: UUID, refused: SchleuseError | None = None) -> Response:
        async with self._console.db.reading() as tx:
            run = await store.run(tx, run_id)
            if run is None:
                raise NotFound("There is no such run.")
            rows, count = await kept(tx, run_id, now(), SHOWN)
        shown = [(row["key"], json.loads(row["data"]), row["expires_at"]) for row in rows]
        columns = [each for each in (shown[0][1] if shown else ()) if not each.startswith("_")][:8]
        status = 200 if refused is None else refused.status
        return await visit.show("job_run.html", status, run=run, rows=shown, columns=columns, count=count, refused=refused)  # fmt: skip

    async def restore(self, visit: Visit) -> Response:
        """All rows of it that are in the trash, a portion a transaction."""
        run_id, after, left = _id(visit, "run_id"), 0, 0
        try:
            while True:
                async with self._console.db.transaction() as tx:
                    found = await restore_rows(tx, visit.caller, run_id, after=after)
                left += found.left
                if found.after is None:
                    break
                after = found.after
        except SchleuseError as refused:
            return await self._show_run(visit, run_id, refused)
        if left:
            fault = Refused(f"{left} rows are in the trash still: rows with their keys are there again.", code="left")
            return await self._show_run(visit, run_id, fault)
        return go(f"/jobs/runs/{run_id}")


def _id(visit: Visit, name: str) -> UUID:
    return as_uuid(visit.request.path_params[name])


def _conditions(row: Row) -> list[str]:
    try:
        return [words_of(each) for each in read_job(row["job"]).conditions]
    except Refused as fault:
        return [fault.message]


def _when(row: Row) -> dict[str, Any]:
    """What its words mean, and its next times; of one that is not on, as if it were switched on now."""
    try:
        job, at = read_job(row["job"]), now()
        since = row["set_at"] if row["state"] == "on" else at
        words = timetable(job, since)
        return {"words": words.words, "zone": words.zone, "notes": words.notes, "next": coming(job, since, at), "said": job.schedule}  # fmt: skip
    except SchleuseError as fault:
        return {"words": fault.message, "zone": "", "notes": (), "next": (), "said": ""}


def _typed(form: Form) -> CleanupJob:
    """The form's fields. Refused, naming what is missing."""
    app, _, table = form.text("table").partition(".")
    asked = zip(form.every("column"), form.every("op"), form.every("value"), strict=False)
    wanted = [(form.text("by") or "any", "older_than", form.text("days").strip())]
    wanted += [each for each in asked if each[0] and each[1] in OPS]
    name = form.text("name").strip() or f"{table}: older than {form.text('days')} days"
    try:
        conditions = tuple(Condition(column=column, op=op, value=value) for column, op, value in wanted)
        return CleanupJob(name=name, app=app, table=table, conditions=conditions, schedule=form.text("schedule"), zone=form.text("zone") or "UTC")  # fmt: skip
    except ValidationError as error:
        first = error.errors()[0]
        raise Refused(f"{'.'.join(str(each) for each in first['loc'])}: {first['msg']}", code="job") from None
