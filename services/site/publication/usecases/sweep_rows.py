"""Compare what is stored with what was verified: at start everything, then whatever changed, by whomever.

Done under the lock of the head row, so that no entry is half applied. Rows that this process wrote itself are known by
their version (xmin) and not read again.
"""

import asyncio
from dataclasses import dataclass, field
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from schemas.model import Slug
from schemas.site.v1 import RowRejected
from services.site.attachments.usecases.sweep_attachments import sweep_attachments
from services.site.publication import store
from services.site.publication.books import Books, Fault
from services.site.publication.chain import BadReceipt, Entered, Link, LogState, follow, replay
from services.site.publication.domain import Row, check_row
from shared.clock import now
from shared.db import Tx
from shared.errors import BadSignature
from shared.ids import new_id

_CHUNK = 1000
AT_ONCE = 1000
"""Links that are verified one by one before anything is answered: a fifth of a second's work."""
_SLUG: TypeAdapter[str] = TypeAdapter(Slug)


@dataclass
class Stock:
    """What a sweep found: our head in the database, and the faults by their names."""

    seq: int
    faults: dict[str, Fault] = field(default_factory=dict)


async def sweep_rows(tx: Tx, books: Books) -> Stock:
    """Bring memory in line with the database, and report each new fault once."""
    seq, _ = await store.head(tx)
    stock = Stock(seq)
    horizon = await store.horizon(tx)
    if books.doubted:
        books.forget()
        await _sweep_log(tx, books, stock, quickly=False)
    else:
        await _sweep_log(tx, books, stock, quickly=True)
    await sweep_attachments(tx, books, stock.faults)
    await _sweep_entries(tx, books, stock)
    await _record(tx, books, stock.faults)
    tx.after_commit(lambda: _compared(books, stock, horizon))
    return stock


def _compared(books: Books, stock: Stock, horizon: int) -> None:
    """While there is a fault everything is compared each time, so that it is known when it is over."""
    books.found(stock.faults)
    books.horizon = 0 if stock.faults else horizon


async def _sweep_log(tx: Tx, books: Books, stock: Stock, *, quickly: bool) -> None:
    known, horizon = books.log_versions, books.horizon
    versions, total = await store.log_versions(tx, horizon)
    if horizon and len(known | versions) != total:
        horizon, (versions, total) = 0, await store.log_versions(tx)
    touched = any(known.get(seq, xmin) != xmin for seq, xmin in versions.items() if seq <= stock.seq) or (
        not horizon and any(seq not in versions for seq in known if seq <= stock.seq)
    )
    start = books.start if touched else books.log
    if stock.seq > start.seq or touched:
        await _replay(tx, books, stock, start, quickly=quickly and not touched)
    kept = {seq: xmin for seq, xmin in versions.items() if seq <= stock.seq}
    if horizon and not touched:
        known.update(kept)
    else:
        books.log_versions = (
            kept if not horizon else {seq: each for seq, each in (known | kept).items() if seq <= stock.seq}
        )
    for seq, xmin in versions.items():
        if seq > stock.seq and seq > books.log.seq:
            stock.faults[f"log {seq} {xmin}"] = Fault(f"entry {seq} lies behind the head of the gate's log")


async def _replay(tx: Tx, books: Books, stock: Stock, start: LogState, *, quickly: bool) -> None:
    """Read stored links. Those that are not right are cut off, and asked for again."""
    links = await store.links_after(tx, start.seq)
    state, entered, fault = await asyncio.to_thread(_read, books, start, links, quickly)
    if fault is None and state.seq != stock.seq:
        fault = f"entry {state.seq + 1} is missing"
    if fault is not None:
        stock.faults[f"log from {state.seq + 1} to {stock.seq}"] = Fault(f"the stored log was touched: {fault}"[:500])
        await store.set_head(tx, state.seq, state.hash)
        stock.seq = state.seq
    for found in entered:
        books.advance(found)


def _read(
    books: Books, start: LogState, links: list[Link], quickly: bool
) -> tuple[LogState, list[Entered], str | None]:
    """A long log is opened by its newest signature; those before it are verified meanwhile (`Proof`) and with each text."""
    quick = follow(start, links, books.keys) if quickly and len(links) > AT_ONCE else None
    if quick is None:
        return replay(start, links, books.keys)
    books.unproven.update((found.entry.seq, found.link) for found in quick[1])
    return *quick, None


async def _sweep_entries(tx: Tx, books: Books, stock: Stock) -> None:
    known, horizon = books.versions, books.horizon
    versions, total = await store.row_versions(tx, horizon)
    if horizon and len(known | versions) != total:
        horizon, (versions, total) = 0, await store.row_versions(tx)
    strange = [item_id for item_id, version in versions.items() if books.versions.get(item_id) != version]
    names = {item_id: f"row {item_id} {versions[item_id][0]} {versions[item_id][1]}" for item_id in strange}
    stock.faults |= {name: books.faults[name] for name in names.values() if name in books.faults}
    unread = [item_id for item_id in strange if names[item_id] not in books.faults]
    for at in range(0, len(unread), _CHUNK):
        for row in await store.rows(tx, unread[at : at + _CHUNK]):
            _check(books, stock, names[row.item_id], row)
        await asyncio.sleep(0)
    there = versions if not horizon else known | versions
    for item_id in [each for each in books.shelf.due() if each not in there]:
        _miss(books, stock, item_id)


def _check(books: Books, stock: Stock, name: str, row: Row) -> None:
    try:
        item = check_row(row, books.shelf.current(row.item_id), again=True)
    except (BadReceipt, BadSignature) as error:
        books.hide(row.item_id)
        stock.faults[name] = Fault(error.message[:500], row.item_id, row.path)
        return
    books.show(item, row.xmin)


def _miss(books: Books, stock: Stock, item_id: UUID) -> None:
    current = books.shelf.current(item_id)
    assert current is not None
    books.hide(item_id)
    books.missing.add(item_id)
    path = getattr(current.statement, "path", None)
    stock.faults[f"missing {item_id} {current.entry.seq}"] = Fault(
        "the row of a published item is missing", item_id, path
    )


async def _record(tx: Tx, books: Books, faults: dict[str, Fault]) -> None:
    for name, fault in faults.items():
        if name not in books.faults and await store.open_fault(tx, name, fault.item_id, fault.path, fault.reason):
            tx.stage("row.rejected", _event(fault), key=str(new_id()), version=1, about=str(fault.item_id or "log"))
    await store.close_faults(tx, faults)


def _event(fault: Fault) -> RowRejected:
    try:
        path = fault.path and _SLUG.validate_python(fault.path)
    except ValidationError:
        path = None
    return RowRejected(item_id=fault.item_id, path=path, reason=fault.reason, found_at=now())
