"""What a table's page is asked for, in its address, and back. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from services.console.records.domain import (
    CELLS,
    COLUMNS,
    MOST_COLUMNS,
    MOST_FILTERS,
    OPS,
    ROWS,
    Ask,
    Shape,
    read_filter,
)
from shared.errors import Refused

LONGEST = 4000


def read_ask(shape: Shape, given: Sequence[tuple[str, str]]) -> Ask:
    """`f` (several): column:op:value; `sort`: a column, with a minus downwards; `cols`: names with commas; `after`, `before`: a place.

    What a form without script sends is read, too: `fc`, `fo`, `fv` are one more filter, `c` (several) the columns. Refused for what means nothing.
    """
    fields: dict[str, list[str]] = {}
    for name, value in given:
        fields.setdefault(name, []).append(value[:LONGEST])
    one = {name: values[-1] for name, values in fields.items()}
    filters = [read_filter(shape, each) for each in fields.get("f", [])]
    if one.get("fc"):
        filters.append(read_filter(shape, f"{one['fc']}:{one.get('fo', 'is')}:{one.get('fv', '')}"))
    if len(filters) > MOST_FILTERS:
        raise Refused(f"At most {MOST_FILTERS} filters are asked at once.", code="filter")
    names = fields.get("c") or [each for each in one.get("cols", "").split(",") if each]
    columns = tuple(shape.column(each).name for each in dict.fromkeys(names))[:MOST_COLUMNS] or _usual(shape)
    sort = one.get("sort", "")
    return Ask(
        tuple(dict.fromkeys(filters)), sort.removeprefix("-"), sort.startswith("-"), one.get("after", ""), one.get("before", ""),
        columns, max(1, min(ROWS, CELLS // len(columns))),
    )  # fmt: skip


def _usual(shape: Shape) -> tuple[str, ...]:
    """The key first, then what a row is called by, then the others as they are declared."""
    first = [*shape.key, *([shape.table.name_by] if shape.table.name_by else [])]
    return tuple(dict.fromkeys([*first, *shape.columns]))[:COLUMNS]


def write_ask(shape: Shape, ask: Ask, **other: Any) -> str:
    """The address's query; `other`: fields of the ask that are different there. A place is kept only where it is named."""
    changed = replace(ask, **({"after": "", "before": ""} | other))
    pairs = [("f", each.written) for each in changed.filters]
    if changed.sort:
        pairs.append(("sort", f"{'-' if changed.down else ''}{changed.sort}"))
    if changed.columns and changed.columns != _usual(shape):
        pairs.append(("cols", ",".join(changed.columns)))
    pairs += [(name, place) for name, place in (("after", changed.after), ("before", changed.before)) if place]
    return f"?{urlencode(pairs, quote_via=quote)}" if pairs else ""


def said(shape: Shape, ask: Ask) -> list[tuple[str, str]]:
    """Each filter in words, and the query without it."""
    return [
        (f"{each.column} {OPS[each.op]} {each.value}".strip(), write_ask(shape, ask, filters=tuple(other for other in ask.filters if other is not each)))
        for each in ask.filters
    ]  # fmt: skip
