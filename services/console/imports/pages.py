"""A file becomes records: sent, tried (which names its bad lines), then imported; the page says how far it is (rule 31)."""

from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping
from starlette.responses import Response
from starlette.routing import Route

from services.console.apps.views import get_app
from services.console.desk import Desk, Visit, go
from services.console.forms import as_uuid
from services.console.imports import store
from services.console.imports.domain import DELIMITERS, ENCODINGS, MOST_BYTES, Options
from services.console.imports.uploading import Upload, read_upload
from services.console.imports.usecases.import_file import import_file
from services.console.imports.usecases.send_file import add_piece, begin_file
from services.console.people.domain import Caller
from services.console.records.domain import Shape, shape_of
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused, SchleuseError
from shared.tasks import spawn

STALLED = 120
"""Seconds without a word after which an import is taken to have ended with its process."""


class ImportPages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console
        self._running: set[Any] = set()

    def routes(self) -> list[Route]:
        page, place = self._desk.page, "/records/{slug}/{table}/import"
        return [
            Route(place, page(self.form, "submit")),
            Route(place, page(self.send, "submit", read_upload), methods=["POST"]),
            Route(f"{place}/{{import_id}}", page(self.one, "submit")),
            Route(f"{place}/{{import_id}}", page(self.run, "submit"), methods=["POST"]),
        ]

    async def form(self, visit: Visit) -> Response:
        return await self._show_form(visit)

    async def _show_form(self, visit: Visit, status: int = 200, refused: SchleuseError | None = None) -> Response:
        shape = await self._shape(visit)
        async with self._console.db.reading() as tx:
            before = await store.newest(tx, shape.app, shape.name)
        fixed = {"encodings": ENCODINGS, "delimiters": DELIMITERS.values(), "most": MOST_BYTES // 1024 // 1024}
        return await visit.show("import.html", status, shape=shape, before=before, refused=refused, **fixed)

    async def send(self, visit: Visit) -> Response:
        shape, form = await self._shape(visit), visit.form
        assert isinstance(form, Upload)
        try:
            if not form.raw:
                raise Refused("Choose a file that is not empty.", code="file")
            async with self._console.db.transaction() as tx:
                app = await get_app(tx, shape.app)
                sent = await begin_file(tx, app, shape.name, visit.caller, form.file_name, _options(form))
                for number, start in enumerate(range(0, len(form.raw), store.PIECE)):
                    await add_piece(tx, sent, visit.caller, number, form.raw[start : start + store.PIECE])
        except Refused as refused:
            return await self._show_form(visit, refused.status, refused)
        self._start(self._work(sent, visit.caller, dry_run=True))
        return go(_place(shape, sent))

    async def one(self, visit: Visit) -> Response:
        shape = await self._shape(visit)
        found = await self._find(visit)
        moving = found["state"] in {"sent", "checking", "importing"}
        stalled = moving and (now() - found["moved_at"]).total_seconds() > STALLED
        return await visit.show(
            "import_one.html", shape=shape, found=found, moving=moving and not stalled, stalled=stalled
        )

    async def run(self, visit: Visit) -> Response:
        """All of its rows, or those that fit; in the background, with a page that says how far it is."""
        shape, found = await self._shape(visit), await self._find(visit)
        if found["state"] not in {"checked", "failed"}:
            raise Conflict("This file is being read, or was imported.", code="busy")
        options = found["options"] | {"leave_bad": visit.form.text("leave_bad") == "yes"}
        async with self._console.db.transaction() as tx:
            await store.move(tx, found["import_id"], now(), options=options)
        self._start(self._work(found["import_id"], visit.caller, dry_run=False))
        return go(_place(shape, found["import_id"]))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = spawn(work, "import")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _work(self, import_id: UUID, by: Caller, *, dry_run: bool) -> None:
        try:
            await import_file(self._console.db, import_id, by, dry_run=dry_run)
        except SchleuseError:
            pass  # it stands on the import's page
        finally:
            self._console.live.tell(event="import", item_id=str(import_id))

    async def _find(self, visit: Visit) -> RowMapping:
        """NotFound for another person's (rule 24)."""
        import_id = as_uuid(visit.request.path_params["import_id"])
        async with self._console.db.reading() as tx:
            found = await store.find(tx, import_id)
        if found is None or found["by_id"] != visit.caller.id:
            raise NotFound("There is no such import.")
        return found

    async def _shape(self, visit: Visit) -> Shape:
        async with self._console.db.reading() as tx:
            app = await get_app(tx, visit.request.path_params["slug"])
        return shape_of(app, visit.request.path_params["table"])


def _options(form: Upload) -> Options:
    return Options(
        encoding=form.mark("encoding"),
        delimiter=form.mark("delimiter"),
        null=form.text("null")[:50],
        skip_unknown=form.text("skip_unknown") == "yes",
        replace=form.text("replace") == "yes",
    )


def _place(shape: Shape, import_id: UUID) -> str:
    return f"/records/{shape.app}/{shape.name}/import/{import_id}"
