"""Open pages of one owner hear that their list of conversations is not what it was, in whichever instance they are open."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager, suppress

from services.agent.owners.domain import Me
from shared.db.notices import Notices
from shared.errors import SchleuseError

TOPIC = "conversations"
Whose = tuple[str, str]


class Tabs:
    """One for a process. A guest's pages are all open here."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._open: dict[Whose, set[asyncio.Event]] = defaultdict(set)
        self._following: set[asyncio.Future[None]] = set()
        notices.on(TOPIC, self._heard)

    @contextmanager
    def open(self, me: Me) -> Iterator[asyncio.Event]:
        """Set when something changed; whoever reads it clears it."""
        event, whose = asyncio.Event(), _whose(me)
        self._open[whose].add(event)
        try:
            yield event
        finally:
            self._open[whose].discard(event)
            if not self._open[whose]:
                del self._open[whose]

    def tell(self, me: Me) -> None:
        self._wake(_whose(me))
        if not me.is_guest:
            self._notices.tell(TOPIC, list(_whose(me)))

    def follow(self, me: Me, turn: Awaitable[object]) -> None:
        """Now, and when the turn is over: by then its conversation has a name and has cost something."""
        self.tell(me)
        task = asyncio.ensure_future(self._then(me, turn))
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def _then(self, me: Me, turn: Awaitable[object]) -> None:
        with suppress(SchleuseError):
            await turn
        self.tell(me)

    def _heard(self, body: object) -> None:
        if isinstance(body, list):
            self._wake((str(body[0]), str(body[1])))
        else:
            for whose in list(self._open):
                self._wake(whose)

    def _wake(self, whose: Whose) -> None:
        for event in self._open.get(whose, ()):
            event.set()


def _whose(me: Me) -> Whose:
    return (me.owner.kind, me.owner.id)
