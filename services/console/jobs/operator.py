"""The operator's commands on cleanup jobs (S12). Recorded as `operator`."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from schemas.work import CleanupJob
from services.console.jobs import store
from services.console.jobs.domain import Wanted, coming, read_job, timetable
from services.console.jobs.keeper import JobKeeper
from services.console.jobs.reading import get_job, going
from services.console.jobs.telling import told_dry_run, told_job, told_run
from services.console.jobs.usecases.add_job import Origin, add_job
from services.console.jobs.usecases.dry_run_job import dry_run_job
from services.console.jobs.usecases.restore_rows import restore_rows
from services.console.jobs.usecases.set_job import set_job
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from shared.clock import now
from shared.errors import NotFound, Refused

Args = dict[str, Any]
SHOWN = 20


class JobOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console, keeper: JobKeeper) -> None:
        self._console, self._keeper = console, keeper
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "jobs.list": self.listed,
            "jobs.add": self.add,
            "jobs.dry_run": self.dry_run,
            "jobs.set": self.set,
            "jobs.run": self.run,
            "jobs.history": self.history,
            "jobs.restore": self.restore,
        }

    async def listed(self, args: Args) -> Args:
        """→ {"jobs": [...]}, those that are on first."""
        async with self._console.db.reading() as tx:
            return {"jobs": [told_job(row) for row in await store.listed(tx)]}

    async def add(self, args: Args) -> Args:
        """args: a CleanupJob's fields → the job, with what was understood and its next times."""
        try:
            job = CleanupJob.model_validate(args)
        except ValidationError as error:
            raise Refused(f"That is no cleanup job: {error}", code="job") from None
        at = now()
        async with self._console.db.transaction() as tx:
            job_id = await add_job(tx, job, Origin(OPERATOR.id, OPERATOR.name, OPERATOR.name), at)
            row = await get_job(tx, job_id)
        words = timetable(read_job(row["job"]), at)
        times = [each.isoformat() for each in coming(read_job(row["job"]), at, at)]
        return told_job(row) | {"understood": words.words, "notes": list(words.notes), "next": times}

    async def dry_run(self, args: Args) -> Args:
        """args {"job"} → its figures, and the first rows that would go."""
        async with self._console.db.transaction() as tx:
            row = await get_job(tx, _id(args, "job"))
            await dry_run_job(tx, row, OPERATOR.name)
            row = await get_job(tx, row["job_id"])
            there = await going(tx, row, row["as_of"], SHOWN) if row["rows"] else None
        shown = [{name: each.get(name) for name in there.columns} for each in there.rows] if there else []
        return told_dry_run(row) | {"shown": shown}

    async def set(self, args: Args) -> Args:
        """args {"job", "setting": on|off, "reason"?} → the job. On takes a dry run of the last 30 minutes."""
        wanted = Wanted(_id(args, "job"), str(args.get("setting") or ""), str(args.get("reason") or ""))
        async with self._console.db.transaction() as tx:
            await set_job(tx, await self._console.ring.signing(tx), OPERATOR, wanted)
            row = await get_job(tx, wanted.job_id)
            tx.after_commit(self._keeper.wake)
        return told_job(row)

    async def run(self, args: Args) -> Args:
        """args {"job"} → {"run"}; it goes on by itself, `jobs.history` says how far it is."""
        return {"run": str(await self._keeper.run_now(OPERATOR, _id(args, "job")))}

    async def history(self, args: Args) -> Args:
        """args {"job"?, "run"?} → {"runs": [...]}, the newest first."""
        job = _id(args, "job") if args.get("job") else None
        async with self._console.db.reading() as tx:
            rows = await store.runs(tx, job, 200)
        return {"runs": [told_run(row) for row in rows if not args.get("run") or str(row["run_id"]) == args["run"]]}

    async def restore(self, args: Args) -> Args:
        """args {"run"} → {"restored", "left"}: all rows of it that are in the trash still."""
        run_id, after, restored, left = _id(args, "run"), 0, 0, 0
        while True:
            async with self._console.db.transaction() as tx:
                found = await restore_rows(tx, OPERATOR, run_id, after=after)
            restored, left = restored + found.rows, left + found.left
            if found.after is None:
                return {"run": str(run_id), "restored": restored, "left": left}
            after = found.after


def _id(args: Args, name: str) -> UUID:
    try:
        return UUID(str(args[name]))
    except (KeyError, ValueError):
        raise NotFound(f"there is no {name} {args.get(name)!r}; `schleuse jobs list` and `jobs history` show them", code=name) from None  # fmt: skip
