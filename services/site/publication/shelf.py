"""What is published, in memory: verified entries by item, and by address for each readership.

Pages, lists, feeds and search read from a View only: the public's holds what was approved for the public, the members' what is for
members too. What is reached by a share link alone is in neither (rule 29). Comments have no address: they belong to their item.
"""

import heapq
from collections.abc import Callable, Iterator
from datetime import datetime
from uuid import UUID

from schemas.model import Audience
from schemas.statements import Decision, LinkChange
from services.site.publication.chain import Entered
from services.site.publication.domain import Published
from services.site.publication.links import Links

Listener = Callable[[Published | None, Published | None], None]


class View:
    """What one readership may see. `listeners` are told (before, after) of every change; None stands for "not shown".
    `comment_listeners` are told of which item the comments have changed.
    """

    def __init__(self, shelf: "Shelf", sees: frozenset[Audience]) -> None:
        self._shelf, self.sees = shelf, sees
        self._shown: dict[str, Published] = {}
        self._items: dict[UUID, Published] = {}
        self._once: dict[str, UUID] = {}
        self._files_once: dict[str, set[UUID]] = {}
        self._comments: dict[UUID, dict[UUID, Published]] = {}
        self.listeners: list[Listener] = []
        self.comment_listeners: list[Callable[[UUID], None]] = []

    def __len__(self) -> int:
        return len(self._shown)

    def __iter__(self) -> Iterator[Published]:
        return iter(self._shown.values())

    def at(self, url: str) -> Published | None:
        return self._shown.get(url)

    def item(self, item_id: UUID) -> Published | None:
        return self._items.get(item_id)

    def comments(self, about: UUID) -> list[Published]:
        """Approved comments about an item, the oldest first."""
        return sorted(self._comments.get(about, {}).values(), key=lambda each: (each.published_at, each.seq))

    def is_gone(self, url: str) -> bool:
        """Whether these readers could once see something here that was withdrawn, has expired or is for others now."""
        item_id = self._once.get(url)
        return item_id is not None and url not in self._shown and self._shelf.is_settled(item_id)

    def remember(self, url: str, item_id: UUID, audience: Audience) -> None:
        """Something was published at this address; only those whom it was for ever learn of that."""
        if audience in self.sees:
            self._once[url] = item_id

    def remember_files(self, hashes: tuple[str, ...], item_id: UUID, audience: Audience) -> None:
        """What was published had these attachments."""
        for each in hashes if audience in self.sees else ():
            self._files_once.setdefault(each, set()).add(item_id)

    def was_file(self, hash_: str) -> bool:
        """Whether these readers could once fetch it, and what named it is settled since."""
        items = self._files_once.get(hash_)
        return bool(items) and all(self._shelf.is_settled(each) for each in items or ())

    def put(self, item: Published) -> None:
        """Show it to these readers, or take it from them if it is not for them."""
        self._change(item, item if item.audience in self.sees else None)

    def take(self, item: Published) -> None:
        self._change(item, None)

    def _change(self, item: Published, shown: Published | None) -> None:
        if item.about is not None:
            self._set_comment(item.about, item.item_id, shown)
        else:
            self._set(item.url, shown)

    def _set_comment(self, about: UUID, item_id: UUID, shown: Published | None) -> None:
        held = self._comments.setdefault(about, {})
        if held.get(item_id) == shown:
            return
        if shown is None:
            del held[item_id]
        else:
            held[item_id] = shown
        for listener in self.comment_listeners:
            listener(about)

    def _set(self, url: str, item: Published | None) -> None:
        before = self._shown.get(url)
        if before == item:
            return
        if before is not None:
            del self._shown[url], self._items[before.item_id]
        if item is not None:
            self._shown[url] = self._items[item.item_id] = item
        for listener in self.listeners:
            listener(before, item)


class Shelf:
    """The newest entry of each item, its verified row, and who sees it."""

    def __init__(self) -> None:
        self._current: dict[UUID, Entered] = {}
        self._stored: dict[UUID, Published] = {}
        self._ends: list[tuple[datetime, UUID]] = []
        self.public = View(self, frozenset({"public"}))
        self.members = View(self, frozenset({"public", "members"}))
        self.linked = View(self, frozenset({"link"}))
        self._views = (self.public, self.members, self.linked)
        self.links = Links()

    def __len__(self) -> int:
        """How many pages are shown to somebody."""
        return len(self.members)

    def note(self, entered: Entered) -> None:
        """An item's newest entry in the verified log. A withdrawal takes the item down at once."""
        item_id = entered.entry.item_id
        self.links.note(entered)
        if item_id is None or isinstance(entered.statement, LinkChange):
            return
        self._current[item_id] = entered
        decision = entered.statement
        if not isinstance(decision, Decision):
            self.take_down(item_id)
            return
        if decision.kind == "comment":
            return
        for view in self._views:
            view.remember(f"/{decision.kind}/{decision.lang}/{decision.path}", item_id, decision.audience)
            view.remember_files(decision.attachments, item_id, decision.audience)

    def put(self, item: Published, at: datetime) -> None:
        """Show a verified entry to those whom it is for, unless its time is over."""
        self._stored[item.item_id] = item
        if item.expire_at is not None:
            heapq.heappush(self._ends, (item.expire_at, item.item_id))
        for view in self._views:
            if item.has_ended(at):
                view.take(item)
            else:
                view.put(item)

    def take_down(self, item_id: UUID) -> None:
        item = self._stored.pop(item_id, None)
        if item is not None:
            self._take(item)

    def clear(self) -> None:
        """Nothing is known any more. What was taken down stays known to have been public."""
        for item_id in list(self._stored):
            self.take_down(item_id)
        self._current.clear()
        self._ends.clear()
        self.links.clear()

    def expire(self, at: datetime) -> None:
        """Take down what was approved until a time that has come."""
        while self._ends and self._ends[0][0] <= at:
            _, item_id = heapq.heappop(self._ends)
            item = self._stored.get(item_id)
            if item is not None and item.has_ended(at):
                self._take(item)

    @property
    def next_end(self) -> datetime | None:
        """When `expire` has something to do."""
        return self._ends[0][0] if self._ends else None

    def _take(self, item: Published) -> None:
        for view in self._views:
            view.take(item)

    def current(self, item_id: UUID) -> Entered | None:
        """The item's newest entry in the log, whether it is shown or not."""
        return self._current.get(item_id)

    def stored(self) -> list[Published]:
        """What is in force: shown, or over."""
        return list(self._stored.values())

    def due(self) -> Iterator[UUID]:
        """Items whose newest entry is a publication: those that must have a row."""
        return (item_id for item_id, entered in self._current.items() if isinstance(entered.statement, Decision))

    def is_settled(self, item_id: UUID) -> bool:
        """Whether the item's newest entry is in force: its verified row is held, or it was withdrawn."""
        current = self._current.get(item_id)
        return item_id in self._stored or (current is not None and not isinstance(current.statement, Decision))
