"""A person switches a job of an app's code on or off, in a zone; or lets it run now."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from services.console.apps.jobs import store
from services.console.apps.views import get_app
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused
from shared.ids import new_id
from shared.schedules.calendar import next_after
from shared.schedules.words import NotUnderstood, understand
from shared.schedules.zones import check_zone

CATCH_UP = timedelta(hours=24)
"""Rule 8: a missed time that is younger is caught up once."""


async def set_job(
    tx: Tx, caller: Caller, slug: str, name: str, *, on: bool, zone: str, wake: Callable[[], None]
) -> None:
    """Refused for words or a zone that mean no times."""
    caller.require("connectors")
    await get_app(tx, slug)
    job = await store.one(tx, slug, name)
    if job is None:
        raise NotFound("There is no such job.")
    at = now()
    place = check_zone(zone.strip()) if zone.strip() else str(job["zone"])
    next_at = next_time(job["schedule"], place, at) if on else None
    await store.put(tx, slug, name, on=on, zone=place, by_name=caller.name, at=at, next_at=next_at)
    tx.after_commit(wake)


def next_time(words: str, zone: str, after: datetime) -> datetime | None:
    """None: it never comes again."""
    try:
        found = next_after(understand(words, zone, after).rule, zone, after)
    except (NotUnderstood, Refused, ValueError) as error:
        raise Refused(
            f"The times “{words}” of this job cannot be used in the zone {zone[:60]}: {error}", code="schedule"
        ) from None
    return None if found is None else found.at


async def start_job(tx: Tx, caller: Caller, slug: str, name: str) -> UUID:
    """A run that begins now, whether the job is on or not. Conflict while it runs, or while the app is not in service."""
    caller.require("connectors")
    app, job, at = await get_app(tx, slug), await store.one(tx, slug, name), now()
    if job is None:
        raise NotFound("There is no such job.")
    if app.state != "installed":
        raise Conflict(f"{slug} is {app.state}; its jobs do not run.", code="stopped")
    if await store.is_running(tx, slug, name):
        raise Conflict("It runs already.", code="running")
    run_id = new_id()
    await store.begin(tx, run_id, slug, name, at, at)
    return run_id


async def start_due(tx: Tx) -> tuple[UUID | None, str, str] | None:
    """(run, app, job) of one job whose time has come; the run is None when it was missed or done before. None when nothing is due."""
    at = now()
    job = await store.due(tx, at)
    if job is None:
        return None
    slug, name, nominal = str(job["slug"]), str(job["name"]), job["next_at"]
    try:
        await store.put_next(tx, slug, name, next_time(job["schedule"], job["zone"], at))
    except Refused:
        await store.put_next(tx, slug, name, None)
    late = at - nominal > CATCH_UP
    run_id = new_id()
    fresh = await store.begin(
        tx, run_id, slug, name, nominal, at, "its time was missed by more than 24 hours" if late else ""
    )
    return (run_id if fresh and not late else None), slug, name
