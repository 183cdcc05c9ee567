"""Open pages of one owner hear that their list of conversations is not what it was, in whichever instance they are open."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from services.agent.owners.domain import Me
from shared.db.notices import Notices

TOPIC = "conversations"
Whose = tuple[str, str]


class Tabs:
    """One for a process. A guest's pages are all open here."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._open: dict[Whose, set[asyncio.Event]] = defaultdict(set)
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
