"""Spend, added up by the database. Nothing is rounded: sums of `numeric` are exact."""
# statements are built from the constants here
# ruff: noqa: S608

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from asyncpg import Record

from services.console.spend.domain import GUESTS, MOST_LINES, By, Cap, Day, Line, Report
from shared.db import Tx

_KEYS: dict[By, str] = {
    "owner": "owner_kind || ':' || owner_id",
    "app": "app || chr(31) || purpose",
    "model": "connector || chr(31) || model",
    "day": "to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
    "turn": "turn_id::text",
}
_SUMS = """count(*) AS calls, coalesce(sum(cost), 0) AS cost, count(*) FILTER (WHERE cost IS NULL) AS unknown,
  count(*) FILTER (WHERE estimated) AS estimated, sum(tokens_in)::bigint AS tokens_in, sum(tokens_out)::bigint AS tokens_out, max(at) AS at,
  min(owner_kind || ':' || owner_id) AS owner, min(app) AS app"""
_WHERE = "WHERE at > $1 AND at <= $2 AND ($3::text IS NULL OR (owner_kind = 'user' AND owner_id = $3))"
_ORDER: dict[By, str] = {"day": "key DESC", "turn": "at DESC"}
_NAMES = "SELECT id::text, name FROM app.people"
_DAYS = f"SELECT (at AT TIME ZONE 'UTC')::date AS day, sum(cost) AS cost FROM app.spend {_WHERE} GROUP BY 1"
_DAY_OF_ALL = """
SELECT owner_kind || ':' || owner_id AS key, coalesce(sum(cost), 0) AS spent, count(*) FILTER (WHERE cost IS NULL) AS unknown
FROM app.spend WHERE at > $1 AND ($2::text IS NULL OR (owner_kind = 'user' AND owner_id = $2)) GROUP BY 1"""
_CAPS = "SELECT subject, value FROM app.agent_settings WHERE name = 'cap'"


async def spend_report(tx: Tx, by: By, whose: str | None, since: datetime, until: datetime) -> Report:
    """Calls that were reserved after `since` up to `until`, of one person or of everybody (None)."""
    ordered = _ORDER.get(by, "cost DESC, calls DESC, key")
    statement = f"SELECT {_KEYS[by]} AS key, {_SUMS} FROM app.spend {_WHERE} GROUP BY 1 ORDER BY {ordered} LIMIT {MOST_LINES + 1}"
    rows = await tx.raw.fetch(statement, since, until, whose)
    total = await tx.raw.fetchrow(f"SELECT 'total' AS key, {_SUMS} FROM app.spend {_WHERE}", since, until, whose)
    assert total is not None
    names = await _names(tx)
    lines = [_line(row, _name_of(by, row, names)) for row in rows[:MOST_LINES]]
    return Report(by, since, until, lines, _line(total, "all together"), len(rows) > MOST_LINES)


async def days_of(tx: Tx, whose: str | None, since: datetime, until: datetime) -> list[Day]:
    """Every day from that of `since` to that of `until`, UTC."""
    found = {row["day"]: row["cost"] for row in await tx.raw.fetch(_DAYS, since, until, whose)}
    first: date = since.astimezone(UTC).date()
    count = (until.astimezone(UTC).date() - first).days + 1
    each = [first + timedelta(days=number) for number in range(count)]
    return [Day(day, found.get(day) or Decimal(0)) for day in each]


async def caps_of(tx: Tx, whose: str | None, present: datetime, users: str, guests: str) -> list[Cap]:
    """Whoever spent something in the last 24 hours, or has a cap of their own; `users`, `guests`: the caps as installed."""
    caps = {"users": users, "guests": guests} | {
        row["subject"]: row["value"] for row in await tx.raw.fetch(_CAPS) if row["value"] != ""
    }
    rows = await tx.raw.fetch(_DAY_OF_ALL, present - timedelta(hours=24), whose)
    spent = {row["key"]: (row["spent"], int(row["unknown"])) for row in rows}
    mine = [f"user:{whose}"] if whose else [GUESTS, *(key for key in caps if key.startswith("user:"))]
    names, keys = await _names(tx), sorted({*spent, *mine}, key=lambda key: -spent.get(key, (Decimal(0), 0))[0])
    return [_cap(key, caps, names, *spent.get(key, (Decimal(0), 0))) for key in keys]


def _cap(key: str, caps: dict[str, str], names: dict[str, str], spent: Decimal, unknown: int) -> Cap:
    held = caps["guests"] if key == GUESTS else caps.get(key, caps["users"])
    return Cap(key, _owner_name(key, names), None if held == "none" else Decimal(held), spent, unknown)


async def _names(tx: Tx) -> dict[str, str]:
    return {row["id"]: row["name"] for row in await tx.raw.fetch(_NAMES)}


def _line(row: Record, name: str) -> Line:
    figures = {key: row[key] for key in ("calls", "cost", "unknown", "estimated", "tokens_in", "tokens_out", "at")}
    key = str(row["key"]).replace("\x1f", "/").strip("/")
    return Line(key=key, name=name, **figures)


def _name_of(by: By, row: Any, names: dict[str, str]) -> str:
    if by == "owner":
        return _owner_name(row["key"], names)
    if by == "turn":
        return f"{_owner_name(row['owner'], names)}, {row['app']}"
    first, _, second = str(row["key"]).partition("\x1f")
    if by == "model":
        return f"{first}/{second}" if first else f"{second} (free)"
    return f"{first}: {second}" if by == "app" else str(row["key"])


def _owner_name(key: str, names: dict[str, str]) -> str:
    if key == GUESTS:
        return "all guests"
    return names.get(key.removeprefix("user:"), key)
