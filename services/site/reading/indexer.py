"""Keeps the search index, and what lists say, in step with the shelf, a moment later: no publication waits for it."""

import asyncio
import time
from uuid import UUID

from services.site.publication.domain import BadReceipt, Published
from services.site.publication.shelf import Shelf
from services.site.reading.cache import ANY, PageCache
from services.site.reading.catalog import Brief, Catalog
from services.site.reading.rendering import Renderer
from services.site.reading.search import SearchIndex
from shared.errors import NotFound, Transient
from shared.markup import plain_text
from shared.tasks import spawn

QUIET = 0.25
"""Seconds that a new page is left alone, so that the first visitor is served before the index."""
SETTLE = 3.0
"""Seconds that a search waits at most for pages that are not indexed yet."""


class Indexer:
    """A part of the service. Withdrawn pages leave the index at once."""

    def __init__(
        self, shelf: Shelf, renderer: Renderer, index: SearchIndex, catalog: Catalog, cache: PageCache
    ) -> None:
        self._shelf, self._renderer, self._index = shelf, renderer, index
        self._catalog, self._cache = catalog, cache
        self._queue: dict[UUID, float] = {}
        self._some = asyncio.Event()
        self._idle = asyncio.Event()
        self._hurry = False
        self._task: asyncio.Task[None] | None = None
        shelf.listeners.append(self._moved)

    def _moved(self, before: Published | None, after: Published | None) -> None:
        if before is not None:
            self._index.remove(before.item_id)
            self._queue.pop(before.item_id, None)
        if after is not None:
            self._queue[after.item_id] = time.monotonic()
            self._some.set()
            self._idle.clear()

    async def start(self) -> None:
        self._task = spawn(self._run(), name="indexer")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def settled(self) -> None:
        """Wait until all that is published can be found, for a moment at most."""
        if self._queue:
            self._hurry = True
            self._some.set()
            try:
                await asyncio.wait_for(self._idle.wait(), SETTLE)
            except TimeoutError:
                return

    async def _run(self) -> None:
        while True:
            if not self._queue:
                self._hurry = False
                self._idle.set()
                self._some.clear()
                await self._some.wait()
                continue
            item_id, since = next(iter(self._queue.items()))
            rest = QUIET - (time.monotonic() - since)
            if rest > 0 and not self._hurry:
                await asyncio.sleep(rest)
                continue
            await self._add(item_id)

    async def _add(self, item_id: UUID) -> None:
        item = self._shelf.public(item_id)
        if item is not None:
            try:
                text = await self._renderer.text(item)
            except (NotFound, BadReceipt):
                text = None  # the watch reports it
            except Transient:
                await asyncio.sleep(1)
                return
            if text is not None and self._shelf.public(item_id) == item:
                self._index.add(item_id, item.title, item.summary + "\n" + plain_text(text.rendered.html))
                self._catalog.briefs[item_id] = Brief(item.summary or text.rendered.summary, text.minutes)
                self._cache.drop_referring(ANY)
        if item == self._shelf.public(item_id):
            self._queue.pop(item_id, None)
        await asyncio.sleep(0)
