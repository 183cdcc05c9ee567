"""Which finished pages stop being true when something is published, withdrawn or voted on."""

from datetime import date
from uuid import UUID

from services.site.publication.domain import Published
from services.site.reading.cache import ANY
from services.site.reading.desk import place, receipt_of, told
from services.site.reading.edition import Edition
from services.site.signals.tallies import Tallies
from shared.clock import now


class Freshness:
    """Drops pages from an edition's cache. The catalog must follow the view before this does."""

    def __init__(self, edition: Edition, tallies: Tallies) -> None:
        self._view, self._catalog, self._cache = edition.view, edition.catalog, edition.cache
        self._frame = self._catalog.sections()
        self._day = now().date()
        self._view.listeners.append(self._moved)
        self._view.comment_listeners.append(lambda about: self._said({about}))
        tallies.listeners.append(self._said)

    def _moved(self, before: Published | None, after: Published | None) -> None:
        item = after or before
        assert item is not None
        if not self._cache.pages:  # as at a start, when everything comes at once
            self._frame = frozenset()
            return
        frame = self._catalog.sections()  # what stands around every page
        if frame != self._frame:
            self._frame = frame
            self._cache.clear()
            return
        self._cache.drop(item.url)
        self._cache.drop_referring(receipt_of(item.item_id))
        self._cache.drop_referring(ANY)
        self._cache.drop_referring(told(item))
        if before is None or after is None:
            self._cache.drop_referring(item.url)
            self._cache.drop_referring(place(item))

    def _said(self, items: set[UUID]) -> None:
        for item_id in items:
            item = self._view.item(item_id)
            if item is not None:
                self._cache.drop(item.url)

    def tick(self) -> None:
        """Once a second: at midnight new form tokens."""
        today: date = now().date()
        if today != self._day:
            self._day = today
            self._cache.clear()
