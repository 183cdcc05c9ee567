"""After code was approved: what it declares is read in its own process, its tables are made, its pages and jobs noted."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field, ValidationError

from schemas.model import Data, Line
from schemas.work import AppDeclaration
from services.console.apps import store
from services.console.apps.domain import InstalledApp, check_declaration
from services.console.apps.jobs import store as job_store
from services.console.apps.package import faults
from services.console.apps.usecases.share_app import restate_app
from services.console.apps.views import find_app
from shared.apps.frames import Frame
from shared.db import Tx
from shared.errors import Refused

PagePath = Annotated[str, Field(pattern=r"^([a-z0-9_-]{1,60}(/[a-z0-9_-]{1,60}){0,5})?$")]


class SaidJob(Data):
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,59}$")]
    schedule: Line
    about: Line = ""


class Said(Data):
    """What an app's process says of itself; believed no further than this."""

    op: str
    tables: tuple[dict[str, Any], ...] | None
    pages: Annotated[tuple[PagePath, ...], Field(max_length=200)]
    jobs: Annotated[tuple[SaidJob, ...], Field(max_length=50)]


async def describe_app(tx: Tx, app: InstalledApp, frame: Frame, on_changed: Callable[[str], None]) -> None:
    """Refused, in words, when what the code declares cannot be made; nothing is kept then."""
    await store.hold(tx, app.slug)
    before = await find_app(tx, app.slug)
    if before is None or (before.version, before.state) != (app.version, "installed"):
        return  # somebody was quicker
    said, declaration = _read(app, frame)
    await store.make_tables(tx, declaration, app.role)
    await store.put_declared(tx, app.slug, declaration)
    await store.put_described(tx, app.slug, app.version, said.pages)
    await job_store.put_jobs(tx, app.slug, [each.model_dump() for each in said.jobs])
    if declaration != before.declaration:
        await restate_app(tx, app.slug, app.by_name)
    tx.after_commit(lambda: on_changed(app.slug))


def _read(app: InstalledApp, frame: Frame) -> tuple[Said, AppDeclaration]:
    """Without models.py the tables are those of app.toml."""
    try:
        said = Said.model_validate(frame)
        if said.tables is None:
            return said, app.declaration
        fields = {**app.declaration.model_dump(mode="json"), "tables": said.tables}
        return said, check_declaration(AppDeclaration.model_validate(fields))
    except ValidationError as error:
        raise Refused(f"What its code declares cannot be used: {faults(error)}.", code="declaration") from None
