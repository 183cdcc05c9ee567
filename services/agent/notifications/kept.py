"""Notifications of signed-in people, and the open pages that are told of them, in all instances."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from schemas.outward import Owner
from services.agent.notifications import store
from services.agent.notifications.domain import MOST_AT_ONCE, News, Notification, Seen, fresh_ids, storable
from services.agent.owners.domain import Me
from shared.clock import now
from shared.db import Database, Tx
from shared.db.notices import Notices
from shared.errors import NotFound
from shared.ids import new_id

TOPIC = "notifications"
MOST_LISTED = 500


class Watch:
    """One open page of somebody. `woken` is set when there may be something new; `pushed`: a guest's toasts, which stand nowhere else."""

    def __init__(self, me: Me) -> None:
        self.me, self.seen = me, Seen()
        self.woken = asyncio.Event()
        self.pushed: list[Notification] = []


class Notifications:
    """One for a process."""

    def __init__(self, db: Database, notices: Notices) -> None:
        self._db, self._notices = db, notices
        self._open: dict[tuple[str, str], set[Watch]] = defaultdict(set)
        notices.on(TOPIC, self._heard)

    @contextmanager
    def open(self, me: Me) -> Iterator[Watch]:
        """A page is open for as long as the block runs; it looks at once."""
        watch, whose = Watch(me), (me.owner.kind, me.owner.id)
        watch.woken.set()
        self._open[whose].add(watch)
        try:
            yield watch
        finally:
            self._open[whose].discard(watch)
            if not self._open[whose]:
                del self._open[whose]

    async def news(self, watch: Watch) -> News | None:
        """What this page is to be told now; None when it knows everything."""
        if watch.me.is_guest:
            pushed, watch.pushed = tuple(watch.pushed), []
            return News(pushed, frozenset(each.notification_id for each in pushed)) if pushed else None
        seen, owner = watch.seen, watch.me.owner
        async with self._db.owned(owner) as tx:
            there, left_out = await store.unread(tx, owner), await store.left_out(tx, owner)
            wanted = fresh_ids(seen, there)[-MOST_AT_ONCE:]
            fresh = await store.some(tx, owner, wanted) if wanted else []
        unread = frozenset(each for each, _ in there)
        if not fresh and (unread, left_out) == (seen.unread, seen.left_out):
            return None
        seen.ids, seen.unread, seen.left_out = set(unread), unread, left_out
        return News(tuple(fresh), unread, left_out)

    async def list(self, me: Me, limit: int = 100) -> Sequence[Notification]:
        """Newest first; nothing of a guest is kept."""
        if me.is_guest:
            return ()
        async with self._db.owned(me.owner) as tx:
            return await store.newest(tx, me.owner, min(limit, MOST_LISTED))

    async def unread(self, me: Me) -> int:
        if me.is_guest:
            return 0
        async with self._db.owned(me.owner) as tx:
            return len(await store.unread(tx, me.owner))

    async def left_out(self, me: Me) -> int:
        if me.is_guest:
            return 0
        async with self._db.owned(me.owner) as tx:
            return await store.left_out(tx, me.owner)

    async def read(self, me: Me, notification_id: UUID) -> None:
        """NotFound for what is not theirs (rule 24). Toasts of it go in every page."""
        if me.is_guest:
            raise _nothing()
        async with self._db.owned(me.owner) as tx:
            if not await store.read(tx, me.owner, notification_id, now()):
                raise _nothing()
            tx.after_commit(lambda: self.tell(me.owner))

    async def read_all(self, me: Me) -> None:
        """Also what found no room is no longer counted."""
        if not me.is_guest:
            async with self._db.owned(me.owner) as tx:
                await store.read_all(tx, me.owner, now())
                tx.after_commit(lambda: self.tell(me.owner))

    async def shown(self, me: Me, ids: Sequence[UUID]) -> None:
        """A page has shown them as toasts: none that opens later does."""
        if not me.is_guest and ids:
            async with self._db.owned(me.owner) as tx:
                await store.shown(tx, me.owner, ids, now())

    async def add(self, owner: Owner, title: str, text: str, *, link: str = "", task_id: UUID | None = None) -> None:
        """Tell somebody something, in a transaction of its own."""
        async with self._db.owned(owner) as tx:
            await self.put(tx, owner, title, text, link=link, task_id=task_id)

    async def put(
        self, tx: Tx, owner: Owner, title: str, text: str, *, link: str = "", task_id: UUID | None = None, due_at: datetime | None = None
    ) -> None:  # fmt: skip
        """With what else the transaction does, which acts for this owner."""
        at, (head, body) = now(), storable(title, text)
        await store.add(tx, owner, Notification(new_id(), head, body, at, due_at or at, task_id, link))
        tx.after_commit(lambda: self.tell(owner))

    def tell(self, owner: Owner) -> None:
        """After the commit: open pages of this owner look, in every instance."""
        self._wake((owner.kind, owner.id))
        if owner.kind == "user":
            self._notices.tell(TOPIC, [owner.kind, owner.id])

    def push(self, me: Me, toast: Notification) -> None:
        """To a guest's open pages, and nowhere else."""
        for watch in self._open.get((me.owner.kind, me.owner.id), ()):
            watch.pushed.append(toast)
            watch.woken.set()

    def _heard(self, body: object) -> None:
        if isinstance(body, list):
            self._wake((str(body[0]), str(body[1])))
        else:
            for whose in list(self._open):
                self._wake(whose)

    def _wake(self, whose: tuple[str, str]) -> None:
        for watch in self._open.get(whose, ()):
            watch.woken.set()


def _nothing() -> NotFound:
    return NotFound("There is no such notification.", code="notification")
