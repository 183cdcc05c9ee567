"""The operator's commands on records (S12): which tables there are, files in and out. Recorded as `operator`."""

from base64 import b64decode
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from services.console.apps.views import get_app, list_apps
from services.console.imports.domain import Options
from services.console.imports.usecases.import_file import import_file
from services.console.imports.usecases.send_file import add_piece, begin_file
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from services.console.records import views
from services.console.records.domain import read_filter, shape_of
from services.console.records.exporting import PORTION, csv_lines
from services.console.records.values import plain_value
from shared.errors import NotFound
from shared.telemetry import span

Args = dict[str, Any]


class RecordOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "records.list": self.listed,
            "records.begin": self.begin,
            "records.piece": self.piece,
            "records.run": self.run,
            "records.export": self.export,
        }

    async def listed(self, _: Args) -> Args:
        """→ {"tables": [{"app", "table", "rows", "columns"}]}; `rows` is null for a table that cannot be read."""
        async with self._console.db.reading() as tx:
            apps = await list_apps(tx)
            shapes = [shape_of(app, table.name) for app in apps for table in app.declaration.tables]
            counts = [await views.count_rows(tx, shape) for shape in shapes]
        return {
            "tables": [
                {"app": each.app, "table": each.name, "rows": count, "columns": len(each.columns)}
                for each, count in zip(shapes, counts, strict=True)
            ]
        }

    async def begin(self, args: Args) -> Args:
        """args {"app", "table", "file", "options": fields of Options} → {"import_id"}: pieces follow."""
        given = dict(args.get("options") or {})
        options = Options(**(given | {"skip": tuple(given.get("skip") or ())}))
        async with self._console.db.transaction() as tx:
            app = await get_app(tx, str(args["app"]))
            sent = await begin_file(tx, app, str(args["table"]), OPERATOR, str(args["file"]), options)
        return {"import_id": str(sent)}

    async def piece(self, args: Args) -> Args:
        """args {"import_id", "number", "piece": base64} → {}."""
        async with self._console.db.transaction() as tx:
            await add_piece(
                tx, _id(args["import_id"]), OPERATOR, int(args["number"]), b64decode(args["piece"], validate=True)
            )
        return {}

    async def run(self, args: Args) -> Args:
        """args {"import_id", "dry_run"} → the report: encoding, delimiter, left_out, rows, bad_count, bad, added, changed."""
        with span("console operator records.run"):
            report = await import_file(
                self._console.db, _id(args["import_id"]), OPERATOR, dry_run=bool(args["dry_run"])
            )
        return report.plain()

    async def export(self, args: Args) -> Args:
        """args {"app", "table", "format": csv or json, "filters", "after"} → {"text": the next portion, "after": empty at the end}."""
        async with self._console.db.reading() as tx:
            shape = shape_of(await get_app(tx, str(args["app"])), str(args["table"]))
            filters = [read_filter(shape, str(each)) for each in args.get("filters") or []]
            after = str(args.get("after") or "")
            rows, on = await views.portion(tx, shape, filters, after, PORTION)
        if args.get("format") == "json":
            return {"rows": [{name: plain_value(row[name]) for name in shape.columns} for row in rows], "after": on}
        return {"text": csv_lines(shape, rows, header=not after).decode(), "after": on}


def _id(value: object) -> UUID:
    try:
        return UUID(str(value))
    except ValueError:
        raise NotFound(f"there is no import {str(value)!r}", code="import") from None
