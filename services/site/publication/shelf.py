"""What is published, in memory: verified entries by item and by URL. Pages, feeds and search read from here only."""

from collections.abc import Callable, Iterator
from datetime import datetime
from uuid import UUID

from schemas.statements import Decision
from services.site.publication.domain import Entered, Published

Listener = Callable[[Published | None, Published | None], None]


class Shelf:
    """`listeners` are told (before, after) of every change; None stands for "not public"."""

    def __init__(self) -> None:
        self._current: dict[UUID, Entered] = {}
        self._stored: dict[UUID, Published] = {}
        self._public: dict[str, Published] = {}
        self._once_public: dict[str, UUID] = {}
        self.listeners: list[Listener] = []

    def __len__(self) -> int:
        return len(self._public)

    def __iter__(self) -> Iterator[Published]:
        return iter(self._public.values())

    def note(self, entered: Entered) -> None:
        """An item's newest entry in the verified log. A withdrawal takes the item down at once."""
        item_id = entered.entry.item_id
        if item_id is None:
            return
        self._current[item_id] = entered
        match entered.statement:
            case Decision(audience="public") as decision:
                self._once_public[f"/{decision.kind}/{decision.lang}/{decision.path}"] = item_id
            case Decision():
                return
            case _:
                self.take_down(item_id)

    def put(self, item: Published, at: datetime) -> None:
        """Show a verified entry, unless it is not (or no longer) for the public."""
        self._stored[item.item_id] = item
        self._show(item.url, item if item.is_public(at) else None)

    def take_down(self, item_id: UUID) -> None:
        item = self._stored.pop(item_id, None)
        if item is not None:
            self._show(item.url, None)

    def expire(self, at: datetime) -> None:
        """Take down what was approved until a time that has come."""
        for item in [each for each in self if not each.is_public(at)]:
            self._show(item.url, None)

    def _show(self, url: str, item: Published | None) -> None:
        before = self._public.get(url)
        if before == item:
            return
        if item is None:
            del self._public[url]
        else:
            self._public[url] = item
        for listener in self.listeners:
            listener(before, item)

    def current(self, item_id: UUID) -> Entered | None:
        """The item's newest entry in the log, whether it is shown or not."""
        return self._current.get(item_id)

    def due(self) -> Iterator[UUID]:
        """Items whose newest entry is a publication: those that must have a row."""
        return (item_id for item_id, entered in self._current.items() if isinstance(entered.statement, Decision))

    def stored(self, item_id: UUID) -> Published | None:
        """The verified row of an item of any audience."""
        return self._stored.get(item_id)

    def public(self, item_id: UUID) -> Published | None:
        item = self._stored.get(item_id)
        return item and self._public.get(item.url)

    def at(self, url: str) -> Published | None:
        return self._public.get(url)

    def is_gone(self, url: str) -> bool:
        """Whether something public was here and was withdrawn, has expired or is for others now."""
        item_id = self._once_public.get(url)
        if item_id is None or url in self._public:
            return False
        return item_id in self._stored or not isinstance(self._current[item_id].statement, Decision)
