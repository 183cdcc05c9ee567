"""Mappings for the operator: listed, made, tried, handed in."""

from typing import Any
from uuid import UUID

from services.console.mappings import store
from services.console.mappings.domain import Report
from services.console.mappings.reading import read_report
from services.console.mappings.usecases.make_drafts import find_mapping, make_drafts
from services.console.mappings.usecases.remove_mapping import remove_mapping
from services.console.mappings.usecases.save_mapping import save_mapping
from services.console.mappings.usecases.submit_mapping import submit_mapping
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from services.console.queue.usecases.wait_for import wait_for_queue
from shared.errors import NotFound
from shared.ids import new_id
from shared.operator import Verb

Args = dict[str, Any]
PATIENCE = 30.0


class MappingOperator:
    """Verbs: mappings.list, mappings.put, mappings.preview, mappings.submit, mappings.remove."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @property
    def verbs(self) -> dict[str, Verb]:
        return {
            "mappings.list": self.listed,
            "mappings.put": self.put,
            "mappings.preview": self.preview,
            "mappings.submit": self.submit,
            "mappings.remove": self.remove,
        }

    async def listed(self, _: Args) -> Args:
        """{"mappings": [...]}."""
        async with self._console.db.reading() as tx:
            return {"mappings": [plain(store.report_of(row)) for row in await store.every(tx)]}

    async def put(self, args: Args) -> Args:
        """args: a mapping's fields, without `mapping_id` a new one → {"mapping_id"}."""
        report = read_report(_id(args) if args.get("mapping_id") else new_id(), args)
        async with self._console.db.transaction() as tx:
            await save_mapping(tx, OPERATOR, report)
        return {"mapping_id": str(report.mapping_id)}

    async def preview(self, args: Args) -> Args:
        """args {"mapping_id"} → {"pages": [{"path", "markdown", "rows"}]}."""
        async with self._console.db.transaction() as tx:
            made = await make_drafts(tx, OPERATOR, await find_mapping(tx, _id(args)))
        return {"pages": [vars(each) for each in made]}

    async def submit(self, args: Args) -> Args:
        """args {"mapping_id"} → {"items": [{"item_id", "path", "state"}]}, when the lock has answered or half a minute is over."""
        async with self._console.db.transaction() as tx:
            sent = await submit_mapping(tx, OPERATOR, _id(args))
        found = await wait_for_queue(
            self._console.db, self._console.live, [each.submission_id for each in sent], PATIENCE
        )
        return {
            "items": [
                {"item_id": str(each.item_id), "path": each.path, "state": found[each.submission_id]["state"]}
                for each in sent
            ]
        }

    async def remove(self, args: Args) -> Args:
        """args {"mapping_id"} → {}."""
        async with self._console.db.transaction() as tx:
            await remove_mapping(tx, OPERATOR, _id(args))
        return {}


def plain(report: Report) -> Args:
    """As programs see it, and may send it back."""
    return {
        **vars(report),
        "mapping_id": str(report.mapping_id),
        "columns": list(report.columns),
        "filters": list(report.filters),
    }


def _id(args: Args) -> UUID:
    try:
        return UUID(str(args.get("mapping_id")))
    except ValueError:
        raise NotFound("There is no such mapping; `schleuse mappings list` shows them.", code="mapping") from None
