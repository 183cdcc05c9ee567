"""What this process knows of the gate's log. The database's head row decides what comes next; this follows it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.statements import GateEntry, GateHead, Signed
from services.site.attachments.domain import Holdings
from services.site.publication import store
from services.site.publication.chain import BadReceipt, Entered, Link, LogState, check_signatures, enter
from services.site.publication.domain import Published
from services.site.publication.door import Door
from services.site.publication.shelf import Shelf
from shared.clock import now
from shared.db import Tx
from shared.errors import BadSignature
from shared.signing import PublicKeys


@dataclass(frozen=True)
class Fault:
    """A row that was not shown, or a place where the stored log was touched."""

    reason: str
    item_id: UUID | None = None
    path: str | None = None


class Books:
    """The verified log, its shelf and its door.

    `states` remembers what the log stands at after an entry, by the entry's hash. The hash fixes all that went before, so
    a state is right whichever transaction found it, also one that was rolled back. `listeners` are told of every entry and
    head. `several`: other instances apply entries, too. `horizon`: what the database wrote before this was compared (store.horizon). `unproven`: by number, links behind which only the newest one's signature was looked at, yet;
    `doubted`: one of them is not right, and the stored log must be verified link by link.
    """

    def __init__(self, keys: PublicKeys, shelf: Shelf, door: Door) -> None:
        self.keys = keys
        self.shelf = shelf
        self.door = door
        self.start = LogState(keys.ids("decision"))
        self.log = self.start
        self.states: dict[str, LogState] = {self.start.hash: self.start}
        self.hashes: list[str] = []
        self.versions: dict[UUID, tuple[int, str]] = {}
        self.log_versions: dict[int, str] = {}
        self.faults: dict[str, Fault] = {}
        self.missing: set[UUID] = set()
        self.holdings = Holdings()
        self.heads: set[str] = set()
        self.listeners: list[Callable[[], None]] = []
        self.several = False
        self.doubted = False
        self.horizon = 0
        self.unproven: dict[int, Link] = {}
        self.asked = 0
        self.asked_at = float("-inf")

    def enter(self, before: LogState, link: Link, entry: GateEntry | None = None) -> Entered:
        """Verify the link behind a state. `entry` as in the domain's `enter`."""
        entered = enter(before, link, self.keys, entry)
        self.states[entered.hash] = entered.after
        return entered

    async def state_at(self, tx: Tx, seq: int, hash_: str) -> LogState:
        """The state at the database's head, which may have moved on in this transaction or by another instance."""
        known = self.states.get(hash_)
        if known is not None:
            return known
        state = self.log if seq >= self.log.seq else self.start
        for link in await store.links_after(tx, state.seq):
            state = self.enter(state, link).after
        if state.hash != hash_:
            raise BadReceipt(f"the stored log does not lead to its head at entry {seq}")
        return state

    def hash_at(self, seq: int) -> str | None:
        return self.hashes[seq] if 0 <= seq < len(self.hashes) else None

    def see(self, sealed: Signed, head: GateHead) -> None:
        """A verified head, whichever instance of the site received it."""
        self.heads.add(sealed.hash)
        self.door.see(head, self.log, self.hash_at)
        self._tell()

    def _tell(self) -> None:
        for listener in self.listeners:
            listener()

    def advance(self, entered: Entered) -> None:
        """The next stored entry. One that is known already, because it was stored again, changes nothing."""
        if entered.entry.seq != self.log.seq + 1:
            return
        self.states.pop(self.log.hash, None)
        self.log = entered.after
        self.states[self.log.hash] = self.log
        self.hashes.append(self.log.hash)
        if entered.entry.item_id is not None:
            self.holdings.waiting.pop(entered.entry.item_id, None)
        self.shelf.note(entered)
        self.door.reached(self.log)

    def commit(self, entered: Entered, item: Published | None, xmin: str) -> None:
        """An entry of the log and its row are durable. They were written together and bear the same version."""
        self.advance(entered)
        self.log_versions[entered.entry.seq] = xmin
        if item is not None:
            self.show(item, xmin)
        self._tell()

    def show(self, item: Published, xmin: str, at: datetime | None = None) -> None:
        """A stored and verified row."""
        current = self.shelf.current(item.item_id)
        if current is None or current.entry.seq != item.seq:
            return
        self.versions[item.item_id] = (item.seq, xmin)
        if not self.holdings.has_all(item):
            self.holdings.await_files(item, xmin, time.monotonic())
            self.shelf.take_down(item.item_id)
            return
        self.missing.discard(item.item_id)
        self.holdings.waiting.pop(item.item_id, None)
        self.shelf.put(item, at or now())

    def file_came(self, hash_: str, xmin: str) -> None:
        """An attachment is durable: what had to wait for it is shown."""
        for each in self.holdings.came(hash_, xmin):
            self.show(each.item, each.xmin)
        self._tell()

    def file_went(self, hash_: str) -> None:
        """An attachment is gone, or cannot be believed: what names it is not shown until the gate has sent it again."""
        self.holdings.files.pop(hash_, None)
        for item in [each for each in self.shelf.stored() if hash_ in {file.hash for file in each.attachments}]:
            self.holdings.await_files(item, self.versions[item.item_id][1], time.monotonic())
            self.shelf.take_down(item.item_id)
            self.missing.add(item.item_id)

    def miss_overdue(self, present: float) -> None:
        """Attachments that should have come by now are asked for."""
        self.missing.update(self.holdings.overdue(present))

    def lacking_files(self) -> list[Published]:
        """What is not shown since an attachment that was here is missing: the gate is asked for it."""
        return [each.item for item_id, each in self.holdings.waiting.items() if item_id in self.missing]

    def hide(self, item_id: UUID) -> None:
        """The item's row is gone or cannot be believed."""
        self.versions.pop(item_id, None)
        self.holdings.waiting.pop(item_id, None)
        self.shelf.take_down(item_id)

    def prove(self, seq: int) -> None:
        """Verify the signatures of an entry, unless that was done already. BadSignature, and from now on `doubted`, when one is not right."""
        link = self.unproven.get(seq)
        if link is None:
            return
        try:
            check_signatures(link, self.keys)
        except BadSignature:
            self.doubted = True
            raise
        del self.unproven[seq]

    def forget(self) -> None:
        """What was read of the stored log cannot be believed: nothing is shown until it was verified, or sent, anew."""
        self.door.lost(self.log)
        self.shelf.clear()
        self.holdings.waiting.clear()
        self.log, self.states, self.hashes = self.start, {self.start.hash: self.start}, []
        self.versions, self.log_versions, self.doubted, self.horizon = {}, {}, False, 0
        self.unproven.clear()

    def found(self, faults: dict[str, Fault]) -> None:
        self.faults = faults
