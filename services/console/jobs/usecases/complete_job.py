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
        app, table = _table_of(apps, job.table)
        job = job.model_copy(update={"app": app, "table": table})
    if any(each.column == ANY_COLUMN for each in job.conditions):
        column = _date_of(apps, job)
        named = tuple(each.model_copy(update={"column": column}) if each.column == ANY_COLUMN else each for each in job.conditions)  # fmt: skip
        job = job.model_copy(update={"conditions": named})
    return job


def _table_of(apps: list[InstalledApp], said: str) -> tuple[str, str]:
    """App and table: of that very name, else the only one whose name ends with that word."""
    tables = [(app.slug, each.name) for app in apps for each in app.declaration.tables] + [(PLATFORM, each) for each in OWN]  # fmt: skip
    found = [each for each in tables if each[1] == said] or [each for each in tables if each[1].endswith(f"_{said}")]
    if not found:
        raise NotFound(f"No app has a table {said}; say the table's name as the console shows it under Apps.", code="table")  # fmt: skip
    if len(found) > 1:
        several = ", ".join(f"{app}.{table}" for app, table in found)
        raise Refused(f"Several tables could be meant: {several}. Say app and table.", code="table")
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
