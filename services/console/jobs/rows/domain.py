"""Tables that jobs may clean up, and what a condition means for a column of theirs. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from schemas.work import CleanupJob, ColumnType, Condition
from shared.errors import Refused
from shared.schedules.zones import zone_of

ORDERED = frozenset({"integer", "decimal", "date", "instant"})
DATED = frozenset({"date", "instant"})
MOST_DAYS = 36_500
MOST_DIGITS = 1000
"""Before or after the point of a decimal."""
SQL_TYPES: dict[ColumnType, str] = {
    "text": "text", "integer": "bigint", "decimal": "numeric", "boolean": "boolean", "date": "date", "instant": "timestamptz", "json": "jsonb",
}  # fmt: skip
_WORDS = {
    "equals": "{c} = {v}", "not_equals": "{c} IS DISTINCT FROM {v}", "less": "{c} < {v}", "greater": "{c} > {v}",
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A table of which rows may go. `place`: its name in a statement, quoted. `guard`: a condition of ours that always holds, as SQL over `_t`."""

    app: str
    table: str
    place: str
    columns: Mapping[str, ColumnType]
    key: tuple[str, ...]
    guard: str = ""
    said: str = ""
    """What the guard means, for people."""


@dataclass(frozen=True)
class Predicate:
    """`where`: which rows go, `undated`: which stay only because they have no date; SQL over `_t` with numbered places for `values`."""

    where: str
    undated: str
    values: tuple[Any, ...]


def name_of(column: str) -> str:
    """Quoted, over the alias that every statement has."""
    return '_t."' + column.replace('"', '""') + '"'


def check_conditions(job: CleanupJob, target: Target) -> None:
    """Refused, naming the column and what to say instead."""
    read_conditions(job, target, datetime(2026, 1, 1, tzinfo=UTC))


def read_conditions(job: CleanupJob, target: Target, start: datetime) -> Predicate:
    """`start`: when the run starts; “older than 90 days” is 90 x 24 h before it (rule 13)."""
    values: list[Any] = []
    wheres, undated, dated = [], [], []
    for each in job.conditions:
        kind = target.columns.get(each.column)
        if kind is None:
            raise Refused(f"{job.app}.{job.table} has no column {each.column}; it has {_listed(target.columns)}.", code="column")  # fmt: skip
        where = _read(each, kind, job.zone, start, values)
        if each.op == "older_than":
            dated.append(_no_date(each.column, kind))
            where = f"({where} AND NOT {dated[-1]})"
        else:
            undated.append(where)
        wheres.append(where)
    if target.guard:
        wheres.append(f"({target.guard})")
        undated.append(f"({target.guard})")
    without = " AND ".join([*undated, f"({' OR '.join(dated)})"]) if dated else "false"
    return Predicate(" AND ".join(wheres), without, tuple(values))


def _read(each: Condition, kind: ColumnType, zone: str, start: datetime, values: list[Any]) -> str:
    column = name_of(each.column)
    if each.op in ("empty", "not_empty"):
        return f"{column} IS {'NULL' if each.op == 'empty' else 'NOT NULL'}"
    if kind == "json":
        raise Refused(f"{each.column} is JSON; of it one can ask only whether it is empty.", code="condition")
    if each.op == "older_than":
        return _older(each, kind, zone, start, values)
    if each.op == "one_of":
        if not each.values:
            raise Refused(f"Say which values of {each.column} are meant.", code="condition")
        values.append([_value(each.column, kind, one, zone) for one in each.values])
        return f"{column} = ANY(${len(values)}::{SQL_TYPES[kind]}[])"
    if each.op in ("less", "greater") and kind not in ORDERED:
        raise Refused(f"{each.column} is {kind}; only numbers and dates are less or greater.", code="condition")
    values.append(_value(each.column, kind, each.value, zone))
    return _WORDS[each.op].format(c=column, v=f"${len(values)}::{SQL_TYPES[kind]}")


def _older(each: Condition, kind: ColumnType, zone: str, start: datetime, values: list[Any]) -> str:
    """A date is over when its day has ended in the owner's zone."""
    if kind not in DATED:
        raise Refused(f"{each.column} is {kind}; only a date or an instant can be older than some days.", code="condition")  # fmt: skip
    if not (
        each.value.isascii() and each.value.isdigit() and len(each.value) <= 9 and 1 <= int(each.value) <= MOST_DAYS
    ):
        raise Refused(f"“Older than” takes a number of days from 1 to {MOST_DAYS}; this is {each.value!r}.", code="condition")  # fmt: skip
    values.append(start - timedelta(days=int(each.value)))
    column, cutoff = name_of(each.column), f"${len(values)}::timestamptz"
    if kind == "instant":
        return f"{column} < {cutoff}"
    values.append(zone)
    return f"(({column} + 1)::timestamp AT TIME ZONE ${len(values)}::text) <= {cutoff}"


def _no_date(column: str, kind: ColumnType) -> str:
    """Neither a date nor one without end."""
    return f"({name_of(column)} IS NULL OR NOT isfinite({name_of(column)}))"


def _value(column: str, kind: ColumnType, said: str, zone: str) -> Any:
    text = said.strip()
    try:
        match kind:
            case "integer":
                found = int(text)
                if not -(2**63) <= found < 2**63:
                    raise ValueError("too large")
                return found
            case "decimal":
                number = Decimal(text)
                # NaN is more than any number in Postgres: every row would be less.
                if not number.is_finite() or abs(number.adjusted()) > MOST_DIGITS:
                    raise ValueError("no number")
                return number
            case "boolean":
                return {"true": True, "yes": True, "ja": True, "false": False, "no": False, "nein": False}[text.lower()]
            case "date":
                return date.fromisoformat(text)
            case "instant":
                return _instant(text, zone)
    except (ValueError, KeyError, InvalidOperation, OverflowError):
        raise Refused(f"{said[:60]!r} is no value of {column}, which is {kind}.", code="condition") from None
    return said


def _instant(text: str, zone: str) -> datetime:
    """A day or a time without an offset is of the owner's zone."""
    found = datetime.combine(date.fromisoformat(text), time()) if len(text) == len("2026-01-01") else datetime.fromisoformat(text)  # fmt: skip
    return (found if found.tzinfo else found.replace(tzinfo=zone_of(zone))).astimezone(UTC)


def words_of(each: Condition) -> str:
    """In English, for pages and messages."""
    value = ", ".join(each.values) if each.op == "one_of" else each.value
    return {
        "older_than": f"{each.column} is older than {value} days",
        "equals": f"{each.column} is {value!r}",
        "not_equals": f"{each.column} is not {value!r}",
        "less": f"{each.column} is less than {value}",
        "greater": f"{each.column} is greater than {value}",
        "one_of": f"{each.column} is one of {value}",
        "empty": f"{each.column} is empty",
        "not_empty": f"{each.column} is not empty",
    }[each.op]


def _listed(columns: Mapping[str, ColumnType]) -> str:
    names = list(columns)
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
