"""Who is here as a guest. A visit is found by its cookie alone; whatever else somebody sends names nobody (AG-08)."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from schemas.outward import Owner
from services.agent.guests.domain import ALL_BYTES, MOST_A_MINUTE, MOST_VISITS, Visit
from services.agent.owners.domain import Me
from shared.errors import NotFound, TooMany
from shared.ids import fresh_id, new_token
from shared.tasks import cancel, spawn

EVERY = 5.0
"""Seconds between two looks for visits that are over."""
Ended = Callable[[Me], None]


class Visits:
    """A part of the service. `ended`: who wants to know of a visit that is over. `place` begins each cookie: where its visit is kept."""

    def __init__(self, place: str = "1") -> None:
        self.place = place
        self.ended: list[Ended] = []
        self._by_cookie: dict[str, Visit] = {}
        self._by_owner: dict[str, Visit] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = spawn(self._run(), name="guests")

    async def stop(self) -> None:
        await cancel(self._task)

    def __len__(self) -> int:
        return len(self._by_owner)

    def find(self, cookie: str) -> Visit | None:
        """The visit of this cookie, which is looked at again from now on; None when there is none, or no more."""
        visit = self._by_cookie.get(_hash(cookie)) if cookie else None
        if visit is None:
            return None
        clock = _clock()
        if visit.is_over(clock):
            self.end(visit)
            return None
        visit.seen = clock
        return visit

    def begin(self) -> tuple[str, Visit]:
        """A new visit and its cookie, which is made here: what a browser brought is never taken over. TooMany when nobody can make room."""
        self._make_room()
        cookie, clock = f"{self.place}.{new_token()}", _clock()
        visit = Visit(Owner(kind="guest", id=fresh_id().hex), _hash(cookie), clock, clock)
        self._by_cookie[visit.token_hash] = self._by_owner[visit.owner.id] = visit
        return cookie, visit

    def of(self, me: Me) -> Visit:
        """The visit of a guest who was found before. NotFound when it is over."""
        visit = self._by_owner.get(me.owner.id) if me.is_guest else None
        if visit is None:
            raise NotFound("This visit is over. Nothing of it was kept.", code="over")
        return visit

    def end(self, visit: Visit) -> None:
        """Everything of it goes."""
        if self._by_owner.pop(visit.owner.id, None) is None:
            return
        self._by_cookie.pop(visit.token_hash, None)
        me = guest(visit)
        for each in self.ended:
            each(me)
        for talk in visit.talks.values():
            for turn_id in list(talk.queue):
                talk.leave(turn_id)
        visit.talks.clear()
        visit.tasks.clear()

    def is_here(self, me: Me) -> bool:
        return me.owner.id in self._by_owner

    def is_connected(self, me: Me) -> bool:
        """Whether a page of the guest is open (rule 22: reminders fire only then)."""
        visit = self._by_owner.get(me.owner.id)
        return visit is not None and visit.streams > 0

    @contextmanager
    def watching(self, visit: Visit) -> Iterator[None]:
        """A page is open for as long as the block runs."""
        visit.streams += 1
        try:
            yield
        finally:
            visit.streams -= 1
            visit.seen = _clock()

    def count(self, visit: Visit) -> None:
        """One more message. TooMany above 30 in a minute."""
        clock = _clock()
        visit.sent = [at for at in visit.sent if clock - at < 60]
        if len(visit.sent) >= MOST_A_MINUTE:
            raise TooMany(f"A guest sends at most {MOST_A_MINUTE} messages a minute. Wait a moment.", code="rate")
        visit.sent.append(clock)

    def sweep(self) -> None:
        """End what is over."""
        clock = _clock()
        for visit in [each for each in self._by_owner.values() if each.is_over(clock)]:
            self.end(visit)

    def _make_room(self) -> None:
        while len(self._by_owner) >= MOST_VISITS or sum(each.bytes for each in self._by_owner.values()) >= ALL_BYTES:
            idle = min((each for each in self._by_owner.values() if not each.is_busy), key=_seen, default=None)
            if idle is None:
                raise TooMany("There are too many guests at once. Come back in a minute, or sign in.", code="guests")
            self.end(idle)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            self.sweep()


def guest(visit: Visit, app: str = "chat") -> Me:
    """Who a guest is for the rest of the agent."""
    return Me(visit.owner, "Guest", "guest", visit.zone, app)


def _seen(visit: Visit) -> float:
    return visit.seen


def _clock() -> float:
    return asyncio.get_running_loop().time()


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()
