"""Apply an entry of the gate's log, strictly in order (S6)."""

from dataclasses import dataclass
from uuid import UUID

from schemas.site.v1 import ItemApplied
from schemas.statements import Decision
from services.site.attachments.usecases.use_files import use_files
from services.site.publication import store
from services.site.publication.books import Books
from services.site.publication.chain import BadReceipt, Entered, Link, LogState, read_entry
from services.site.publication.domain import published
from services.site.publication.store import Held
from services.site.publication.usecases.ask_gate import ask_gate
from shared.clock import now
from shared.db import Tx
from shared.errors import BadSignature


async def apply_entry(
    tx: Tx, books: Books, link: Link, content: bytes | None = None, item_id: UUID | None = None
) -> None:
    """Verify and append one entry; an older one is ignored, a later one held. BadReceipt or BadSignature: it is forged."""
    entry = read_entry(link.gate, books.keys)
    if entry.item_id != item_id:
        raise BadReceipt("the event and the gate's entry name different items")
    before = books.states.get(entry.previous)
    if (
        before is not None
        and before.seq + 1 == entry.seq
        and await _append_all(tx, books, before, Held(link, content, entry))
    ):
        return
    seq, hash_ = await store.head(tx)
    if entry.seq <= seq:
        await _put_back(tx, books, entry.seq, link, content)
    elif entry.seq == seq + 1:
        await _append_all(tx, books, await books.state_at(tx, seq, hash_), Held(link, content, entry))
    else:
        await store.hold(tx, entry.seq, link, content)
        await ask_gate(tx, books, seq)


async def _append_all(tx: Tx, books: Books, before: LogState, first: Held) -> bool:
    """Append an entry and what was held behind it. False: the database's head is not the entry before.

    With several instances, one may have put the next entry aside while this one's statement waited for it: look once more.
    """
    applied = await _append(tx, books, before, first)
    if applied is None:
        return False
    while (applied.held or books.several) and (waiting := await store.held(tx, applied.state.seq + 1)):
        try:
            following = await _append(tx, books, applied.state, waiting)
        except (BadReceipt, BadSignature):
            break  # the gate is asked for it again, and then it is parked under its own name
        if following is None:
            break
        applied = following
    if applied.held:
        await store.drop_held(tx, applied.state.seq + 1)
    return True


@dataclass(frozen=True)
class _Applied:
    state: LogState
    held: int


async def _append(tx: Tx, books: Books, before: LogState, entry: Held) -> _Applied | None:
    """Verify an entry, write it, and show it once it is durable."""
    entered = books.enter(before, entry.link, entry.read)
    item = published(entered, entry.content or b"") if isinstance(entered.statement, Decision) else None
    applied = await store.apply_entry(tx, entered, entry.content)
    if applied is None:
        return None
    if await use_files(tx, books, entered) and applied.is_new:
        _report(tx, entered)
    tx.after_commit(lambda: books.commit(entered, item, applied.xmin))
    return _Applied(entered.after, applied.held)


def _report(tx: Tx, entered: Entered) -> None:
    """Tell the console what can be seen now: `live since` is read from this."""
    entry = entered.entry
    if entry.item_id is None or entry.entry == "link":
        return
    decision = entered.statement if isinstance(entered.statement, Decision) else None
    applied = ItemApplied(
        item_id=entry.item_id,
        gate_seq=entry.seq,
        effect="live" if decision else "gone",
        revision=decision.revision if decision else None,
        content_hash=entry.content_hash,
        applied_at=now(),
    )
    tx.stage("item.applied", applied, key=str(entry.item_id), version=entry.seq)


async def _put_back(tx: Tx, books: Books, seq: int, link: Link, content: bytes | None) -> None:
    """An entry came again. If its row was removed by hand, put it back; else there is nothing to do."""
    item_id = next((each for each in books.missing if _is_newest(books, each, seq, link)), None)
    if item_id is None or content is None:
        return
    entered = books.shelf.current(item_id)
    assert entered is not None
    item = published(entered, content)
    xmin = await store.put_row(tx, entered, content)
    tx.after_commit(lambda: books.show(item, xmin))


def _is_newest(books: Books, item_id: UUID, seq: int, link: Link) -> bool:
    current = books.shelf.current(item_id)
    return current is not None and current.entry.seq == seq and current.link.gate.hash == link.gate.hash
