"""What a mapping makes of the rows that there are now. What became internal since it was saved stops it."""

from dataclasses import dataclass
from uuid import UUID

from services.console.apps.views import get_app
from services.console.mappings import store
from services.console.mappings.domain import MOST_PAGES, MOST_ROWS, Report, check_report, path_of, render
from services.console.people.domain import Caller
from services.console.records.domain import shape_of
from shared.db import Tx
from shared.errors import NotFound, Refused, TooLarge


@dataclass(frozen=True)
class Made:
    """One item of a mapping. `rows`: from how many rows it was made."""

    path: str
    markdown: str
    rows: int


async def find_mapping(tx: Tx, mapping_id: UUID) -> Report:
    found = await store.find(tx, mapping_id)
    if found is None:
        raise NotFound("There is no such mapping.", code="mapping")
    return found


async def make_drafts(tx: Tx, caller: Caller, report: Report) -> list[Made]:
    """Refused when nothing fits, or when a column is internal now; TooLarge for more rows or items than one handing-in may have."""
    caller.require("read")
    shape = shape_of(await get_app(tx, report.app), report.table)
    filters = check_report(report, shape)
    rows = await store.picked(tx, shape, report, filters)
    if not rows:
        raise Refused("No row fits: there is nothing to show.", code="rows")
    if len(rows) > MOST_ROWS:
        raise TooLarge(f"More than {MOST_ROWS:,} rows fit; a filter makes them fewer.")
    if not report.by_row:
        return [Made(report.path, render(report, shape, rows), len(rows))]
    if len(rows) > MOST_PAGES:
        raise TooLarge(f"{len(rows):,} rows would have a page each; at most {MOST_PAGES} are handed in at once.")
    made = [Made(path_of(report, row), render(report, shape, [row]), 1) for row in rows]
    if len({each.path for each in made}) != len(made):
        raise Refused("Two rows would have the same path; name a column in it that tells them apart.", code="path")
    return made
