"""Write what waits for one account in one transaction: first what ends, for it makes room; then what begins."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from asyncpg import Record

from schemas.outward import Owner
from services.agent.spend import store
from services.agent.spend.bookings import Ask, Booking, Close, Full, Progress, Taken
from services.agent.spend.usecases.tell_usage import tell_usage
from shared.db import Database, Tx
from shared.errors import Conflict, SchleuseError

Found = Taken | Full | Decimal | SchleuseError | None


async def book_account(
    db: Database,
    cap_of: Callable[[Owner], Decimal | None],
    life: timedelta,
    account: Owner,
    bookings: Sequence[Booking],
) -> list[Found]:
    """A result for each, in order: Taken or Full for an Ask, the cost for a Close, None for Progress; Conflict for what was done already.

    The account's lock comes first and everything else after it, in every process: nobody waits for somebody who waits for them.
    """
    found: dict[int, Found] = {}
    async with db.owned(account) as tx:
        found |= await _close(tx, account, _numbered(bookings, Close))
        found |= await _ask(tx, account, cap_of(account), life, _numbered(bookings, Ask))
        await _note(tx, account, [each for each in bookings if isinstance(each, Progress)])
    return [found.get(number) for number in range(len(bookings))]


def _numbered(bookings: Sequence[Booking], kind: type[Any]) -> list[tuple[int, Any]]:
    return [(number, each) for number, each in enumerate(bookings) if isinstance(each, kind)]


async def _note(tx: Tx, account: Owner, notes: Sequence[Progress]) -> None:
    newest = {each.call_id: (each.call_id, each.figures, each.outside_call) for each in notes}
    if newest:
        await store.note(tx, account, list(newest.values()))


async def _close(tx: Tx, account: Owner, closes: list[tuple[int, Close]]) -> dict[int, Found]:
    if not closes:
        return {}
    once: dict[UUID, tuple[int, Close]] = {}
    for number, close in closes:
        once.setdefault(close.call_id, (number, close))
    wanted: list[store.Close] = [(each.call_id, each.kind, each.figures, each.cost) for _, each in once.values()]
    rows = await store.settle(tx, account, wanted)
    tell_usage(tx, rows)
    written = {row["call_id"]: row for row in rows}
    return {
        number: close.cost
        if close.call_id in written and once[close.call_id][0] == number
        else Conflict(f"the call {close.call_id} is settled already; its row stands as it is", code="settled")
        for number, close in closes
    }


async def _ask(
    tx: Tx, account: Owner, cap: Decimal | None, life: timedelta, asks: list[tuple[int, Ask]]
) -> dict[int, Found]:
    if not asks:
        return {}
    rows = await store.reserve(tx, account, cap, life, [(each.call, each.amount, each.estimate) for _, each in asks])
    return {number: _verdict(row, cap) for (number, _), row in zip(asks, rows, strict=True)}


def _verdict(row: Record, cap: Decimal | None) -> Found:
    match row["verdict"]:
        case "taken":
            return Taken(row["at"], row["expires_at"])
        case "known":
            return Conflict(
                f"the call {row['call_id']} is in the ledger already: a try of its own needs an id of its own"
            )
        case _:
            assert cap is not None, "nothing is too much without a cap"
            return Full(cap, row["spent"], row["reserved"], int(row["unknown"]), row["overdue"], row["looked_at"])
