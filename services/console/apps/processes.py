"""The processes of installed apps: one for the pages of each, kept while it is used; one of its own for a job.

Before a process begins, the folder is compared with what was approved. An app whose code cannot be loaded, or whose folder is another one, is put
down as broken, and everything else goes on.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import asyncpg
import structlog

from services.console.apps import store
from services.console.apps.approved import approved_files
from services.console.apps.domain import InstalledApp
from services.console.apps.own_rows import own_rows
from services.console.apps.own_writes import OwnWrites
from services.console.apps.process import AppProcess, Broken, Failed, clean
from services.console.apps.views import Catalogue
from shared.apps.frames import Frame
from shared.db import Database
from shared.errors import Conflict, Refused, SchleuseError, Transient
from shared.settings import Settings

log = structlog.get_logger()
LOAD, PAGE, JOB = 20.0, 10.0, 3600.0
"""Seconds that loading, a page and a job may take (rule 31)."""
MOST_ASKED_BY_JOB = 100_000
MOST_WAITING = 8
FOREIGN = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
)
"""What an answer that is meant to do harm could lead to: the app's own fault, and no reason for the console to end."""


@dataclass
class Kept:
    """The process for one app's pages. `by`: the version and folder that it runs."""

    process: AppProcess
    by: tuple[int, str] = (0, "")
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


class Processes:
    """A part of the console."""

    name = "apps"

    def __init__(self, db: Database, settings: Settings, catalogue: Catalogue) -> None:
        self._db, self._settings, self._catalogue = db, settings, catalogue
        self._kept: dict[str, Kept] = {}

    async def start(self) -> None:
        self._catalogue.listen(self._forget)

    async def stop(self) -> None:
        for each in self._kept.values():
            each.process.close()

    def _forget(self, slug: str) -> None:
        """It was changed: the next page begins a process by what is approved then."""
        if slug in self._kept:
            self._kept[slug].by = (0, "")

    async def describe(self, app: InstalledApp) -> Frame:
        """What its code declares: {"tables", "pages", "jobs"}. Refused, in words, when it cannot be loaded."""
        process = AppProcess(self._settings)
        try:
            return await self._opened(process, app)
        finally:
            process.close()

    async def page(self, app: InstalledApp, path: str, query: Mapping[str, str], lang: str) -> Frame:
        """{"status", "html"}. Refused when the app cannot answer: its code raised, took too long, or ended."""
        kept = self._kept.setdefault(app.slug, Kept(AppProcess(self._settings)))
        if kept.waiting >= MOST_WAITING:
            raise Transient(f"{app.slug} has {MOST_WAITING} pages to make already; try again in a moment.", code="busy")
        kept.waiting += 1
        try:
            async with kept.lock:
                await self._ready(kept, app)
                asked = {"op": "page", "path": path, "query": dict(query), "lang": lang}
                async with own_rows(self._settings, app) as rows:
                    return await kept.process.ask(asked, rows, PAGE)
        except Failed as failed:
            raise Refused(f"The app's own code failed: {failed.reason}", code="app") from None
        except FOREIGN as error:
            kept.process.close()
            raise Refused(f"The app did not answer as it must: {type(error).__name__}.", code="app") from None
        except Broken as broken:
            raise Refused(f"The app could not make this page. {broken.message}", code="app") from None
        finally:
            kept.waiting -= 1

    async def job(self, app: InstalledApp, name: str) -> tuple[str, str, str]:
        """(done or failed, what it printed, why it failed)."""
        process = AppProcess(self._settings)
        try:
            await self._opened(process, app)
            async with own_rows(self._settings, app) as rows:
                writes = OwnWrites(self._db, app, rows, name)
                found = await process.ask({"op": "job", "name": name}, writes, JOB, MOST_ASKED_BY_JOB)
            return "done", clean(found.get("output")), ""
        except Failed as failed:
            return "failed", failed.output, failed.reason
        except Broken as broken:
            return "failed", broken.output, broken.message
        except SchleuseError as error:
            return "failed", "", error.message
        except FOREIGN as error:
            return "failed", "", f"{type(error).__name__}: {error}"[:2000]
        finally:
            process.close()

    async def _ready(self, kept: Kept, app: InstalledApp) -> None:
        by = (app.version, app.folder_hash)
        if kept.process.is_open and kept.by == by:
            return
        kept.process.close()
        kept.process = AppProcess(self._settings)
        await self._opened(kept.process, app)
        kept.by = by

    async def _opened(self, process: AppProcess, app: InstalledApp) -> Frame:
        try:
            async with self._db.reading() as tx:
                files = await approved_files(tx, app)
        except Conflict as changed:
            await self._put_down(app, changed.message)
            raise Refused(changed.message, code="changed") from None
        try:
            return await process.open(app.folder_hash, files, LOAD)
        except (Failed, Broken) as fault:
            said = fault.reason if isinstance(fault, Failed) else fault.message
            await self._put_down(app, f"Its code could not be loaded: {said}")
            raise Refused(f"The app's code could not be loaded: {said}", code="app") from None

    async def _put_down(self, app: InstalledApp, reason: str) -> None:
        log.warning("apps.broken", app=app.slug)
        async with self._db.transaction() as tx:
            await store.put_broken(tx, app.slug, app.version, reason)
