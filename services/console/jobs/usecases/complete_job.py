"""Whoever proposes a job may not know which app has such a table, or which of its columns is the date: where there is only one, that is it."""

from schemas.work import ANY_APP, ANY_COLUMN, CleanupJob, Column
from services.console.apps.domain import InstalledApp
from services.console.apps.views import list_apps
from services.console.jobs.domain import PLATFORM
from services.console.jobs.rows.domain import DATED, Target
from services.console.jobs.rows.targets import OWN
from shared.db import Tx
from shared.errors import NotFound, Refused

CREATED = ("created_at", "created_on", "created", "started_at", "at", "recorded_at", "logged_at", "date", "day", "started", "run_at", "updated_at")  # fmt: skip
"""Which date is meant when a table has several: when the row came to be."""


async def complete_job(tx: Tx, job: CleanupJob) -> CleanupJob:
    """NotFound or Refused, naming what there is."""
    apps = await list_apps(tx)
    if job.app == ANY_APP:
        job = job.model_copy(update={"app": _app_of(apps, job.table)})
    if any(each.column == ANY_COLUMN for each in job.conditions):
        column = _date_of(apps, job)
        named = tuple(each.model_copy(update={"column": column}) if each.column == ANY_COLUMN else each for each in job.conditions)  # fmt: skip
        job = job.model_copy(update={"conditions": named})
    return job


def _app_of(apps: list[InstalledApp], table: str) -> str:
    found = [each.slug for each in apps if each.table(table) is not None]
    if table in OWN:
        found.append(PLATFORM)
    if not found:
        raise NotFound(f"No app has a table {table}; say the table's name as the console shows it under Apps.", code="table")  # fmt: skip
    if len(found) > 1:
        raise Refused(f"Several have a table {table}: {', '.join(found)}. Say which app is meant.", code="table")
    return found[0]


def _date_of(apps: list[InstalledApp], job: CleanupJob) -> str:
    dated = _dated(apps, job)
    if not dated:
        raise Refused(f"{job.app}.{job.table} has no column with a date, so nothing of it is old or new.", code="column")  # fmt: skip
    return next((each for each in CREATED if each in dated), dated[0])


def _dated(apps: list[InstalledApp], job: CleanupJob) -> list[str]:
    own: Target | None = OWN.get(job.table) if job.app == PLATFORM else None
    if own is not None:
        return [name for name, kind in own.columns.items() if kind in DATED]
    app = next((each for each in apps if each.slug == job.app), None)
    table = app.table(job.table) if app is not None else None
    columns: tuple[Column, ...] = table.columns if table is not None else ()
    return [each.name for each in columns if each.type in DATED]
