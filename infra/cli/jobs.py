"""`schleuse jobs`: cleanup jobs, what they would delete, what they did, and bringing it back (recorded as operator)."""

import time
from typing import Annotated, Any

import typer

from infra.cli.options import DEFAULT_STATE, Json, State, counted, print_json, printable
from shared.errors import Refused
from shared.operator import call

Job = Annotated[str, typer.Argument(help="As `jobs list` shows it; the first characters do.", metavar="JOB")]
Run = Annotated[str, typer.Argument(help="As `jobs history` shows it; the first characters do.", metavar="RUN")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the record.")]
TableOf = Annotated[str, typer.Argument(help="App and table, as crm.customers; platform.notices for the console's own.", metavar="APP.TABLE")]  # fmt: skip
Days = Annotated[int, typer.Option("--older-than", help="Days of 24 hours before the run's start.")]
Column = Annotated[str, typer.Option("--by", help="The column with the date; may be left out where the table has one.")]
Where = Annotated[list[str] | None, typer.Option("--where", help="Another condition, as status=done; all must hold.")]
Schedule = Annotated[str, typer.Option("--schedule", help="When, in words: “every Sunday”, “jeden Tag um 4”.")]
Zone = Annotated[str, typer.Option("--zone", help="The owner's zone, an IANA name.")]
Name = Annotated[str, typer.Option("--name", help="What it is called.")]
PATIENCE, LOOK = 90.0, 0.2


def register(app: typer.Typer) -> None:
    jobs = typer.Typer(
        help="Cleanup jobs: list, dry run, switch on and off, run, history, restore.", no_args_is_help=True
    )
    for name, command in (("list", list_jobs), ("add", add), ("dry-run", dry_run), ("on", on), ("off", off), ("run", run), ("history", history), ("restore", restore)):  # fmt: skip
        jobs.command(name)(command)
    app.add_typer(jobs, name="jobs")


def list_jobs(state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """All of them, those that are on first."""
    found = call(state, "console", "jobs.list", {})
    if as_json:
        print_json(found)
        return
    for each in found["jobs"]:
        _say(each)
    typer.echo(counted(len(found["jobs"]), "job"))


def add(
    table: TableOf, older_than: Days, schedule: Schedule = "every Sunday", by: Column = "any", where: Where = None, zone: Zone = "UTC", name: Name = "",
    state: State = DEFAULT_STATE, as_json: Json = False,
) -> None:  # fmt: skip
    """Write a job down. It deletes nothing before its dry run was made and it was switched on."""
    app, _, part = table.partition(".")
    conditions = [
        {"column": by, "op": "older_than", "value": str(older_than)},
        *(_condition(each) for each in where or ()),
    ]
    job = {"name": name or f"{part}: older than {older_than} days", "app": app, "table": part, "conditions": conditions, "schedule": schedule, "zone": zone}  # fmt: skip
    found = call(state, "console", "jobs.add", job)
    if as_json:
        print_json(found)
        return
    _say(found)
    typer.echo(
        printable(f"    understood: {found['understood']} ({found['zone']}); next {', '.join(found['next'][:5])}")
    )


def dry_run(job: Job, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Which rows would go now, exactly; nothing is touched."""
    found = call(state, "console", "jobs.dry_run", {"job": _whole(state, job)})
    if as_json:
        print_json(found)
        return
    if found["rows"] is None:
        raise Refused(f"it could not be counted: {found['error']}")
    typer.echo(f"{found['rows']:,} rows would go ({found['bytes']:,} bytes); {found['undated']:,} have no date and stay; {found['referenced']:,} stay because others refer to them")  # fmt: skip
    for each in found["shown"]:
        typer.echo(printable("    " + ", ".join(f"{name}={value}" for name, value in each.items())))


def on(job: Job, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Switch it on, for what its dry run of the last 30 minutes has shown."""
    _set(state, job, "on", reason, as_json)


def off(job: Job, reason: Reason = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Switch it off; what runs of it ends with the batch that it is at."""
    _set(state, job, "off", reason, as_json)


def run(job: Job, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Run it now, and wait until it has ended."""
    meant = _whole(state, job)
    started = call(state, "console", "jobs.run", {"job": meant})["run"]
    deadline = time.monotonic() + PATIENCE
    found = _run(state, meant, started)
    while found["state"] == "running" and time.monotonic() < deadline:
        time.sleep(LOOK)
        found = _run(state, meant, started)
    if as_json:
        print_json(found)
    else:
        _say_run(found)


def history(job: Annotated[str, typer.Argument(help="Of one job.")] = "", state: State = DEFAULT_STATE, as_json: Json = False) -> None:  # fmt: skip
    """What runs did, the newest first."""
    found = call(state, "console", "jobs.history", {"job": _whole(state, job)} if job else {})
    if as_json:
        print_json(found)
        return
    for each in found["runs"]:
        _say_run(each)
    typer.echo(counted(len(found["runs"]), "run"))


def restore(run: Run, state: State = DEFAULT_STATE, as_json: Json = False) -> None:
    """Bring back what a run deleted, as it was; for seven days."""
    listed = call(state, "console", "jobs.history", {})["runs"]
    meant = [each["run"] for each in listed if each["run"].startswith(run.lower())]
    if len(meant) != 1:
        raise Refused(f"{len(meant) or 'no'} runs begin with {run}; `schleuse jobs history` shows them")
    found = call(state, "console", "jobs.restore", {"run": meant[0]})
    if as_json:
        print_json(found)
        return
    left = f"; {found['left']:,} are in the trash still, as their keys are there again" if found["left"] else ""
    typer.echo(f"{found['restored']:,} rows restored{left}")


def _set(state: Any, job: str, setting: str, reason: str, as_json: bool) -> None:
    found = call(state, "console", "jobs.set", {"job": _whole(state, job), "setting": setting, "reason": reason})
    if as_json:
        print_json(found)
    else:
        _say(found)


def _condition(text: str) -> dict[str, Any]:
    column, _, value = text.partition("=")
    if not value:
        return {"column": column, "op": "empty"}
    return {"column": column, "op": "equals", "value": value}


def _whole(state: Any, job: str) -> str:
    """The one job whose id or name begins so; Refused when several or none do."""
    listed = call(state, "console", "jobs.list", {})["jobs"]
    found: list[str] = [each["job"] for each in listed if each["job"].startswith(job.lower()) or each["name"] == job]
    if len(found) != 1:
        raise Refused(f"{len(found) or 'no'} jobs begin with {job}; `schleuse jobs list` shows them")
    return found[0]


def _run(state: Any, job: str, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = call(state, "console", "jobs.history", {"job": job, "run": run_id})["runs"][0]
    return found


def _say(each: dict[str, Any]) -> None:
    rows = each["dry_run"]["rows"]
    seen = f", dry run {rows:,} rows" if rows is not None else ""
    when = f", next {each['next_at']}" if each.get("next_at") else f": {each['reason']}" if each.get("reason") else ""
    what = " and ".join(each["conditions"])
    typer.echo(printable(f"{each['job']}  {each['state']}: {each['name']} ({each['app']}.{each['table']}: {what}; {each['schedule']}, {each['zone']}){seen}{when}"))  # fmt: skip


def _say_run(each: dict[str, Any]) -> None:
    trash = f" {each['in_trash']:,} can be restored until {each['until']}." if each["in_trash"] else ""
    error = f" {each['error']}" if each["error"] else ""
    typer.echo(printable(f"{each['run']}  {each['state']} ({each['how']}, {each['nominal_at']}): {each['name']}: {each['output']}{error}{trash}"))  # fmt: skip
