"""A mapping is kept, if nothing in it is internal."""

from services.console.apps.views import get_app
from services.console.mappings import store
from services.console.mappings.domain import Report, check_report
from services.console.people.domain import Caller
from services.console.queue.usecases.submit_item import read_draft
from services.console.records.domain import shape_of
from shared.clock import now
from shared.db import Tx
from shared.errors import Refused
from shared.markup import invisible


async def save_mapping(tx: Tx, caller: Caller, report: Report) -> None:
    """Refused, naming the column or the field that does not fit; NotFound for an app or a table that there is not."""
    caller.require("submit")
    if not report.name.strip() or len(report.name) > 200 or invisible(report.name):
        raise Refused("A mapping has a name of 1 to 200 characters, all of them visible.", code="name")
    check_report(report, shape_of(await get_app(tx, report.app), report.table))
    if not report.by_row:
        read_draft(report.kind, report.lang, report.path, f"# {report.name}\n\nx", report.audience)
    await store.put(tx, report, caller.name, now())
