"""Keeps the search indexes, and what lists say, in step with the shelf, a moment later: no publication waits for it."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from uuid import UUID

from schemas.model import Audience
from services.site.publication.chain import BadReceipt
from services.site.publication.domain import Published
from services.site.publication.shelf import View
from services.site.reading.cache import ANY, PageCache
from services.site.reading.catalog import Brief
from services.site.reading.rendering import Renderer, Text
from services.site.reading.search import SearchIndex
from shared.errors import NotFound, Transient
from shared.markup import plain_text
from shared.tasks import cancel, spawn

QUIET = 0.25
"""Seconds that a new page is left alone, so that the first visitor is served before the index."""
SETTLE = 3.0
"""Seconds that a search waits at most for pages that are not indexed yet."""


class Indexer:
    """A part of the service. Withdrawn pages leave their index at once.

    `view` is of everything; each item goes into the index of its own audience and into no other. `caches`: where lists are kept.
    """

    def __init__(
        self,
        view: View,
        renderer: Renderer,
        indexes: Mapping[Audience, SearchIndex],
        briefs: dict[UUID, Brief],
        caches: Sequence[PageCache],
    ) -> None:
        self._view, self._renderer, self._indexes = view, renderer, indexes
        self._briefs, self._caches = briefs, caches
        self._queue: dict[UUID, float] = {}
        self._some = asyncio.Event()
        self._idle = asyncio.Event()
        self._hurry = False
        self._task: asyncio.Task[None] | None = None
        view.listeners.append(self._moved)

    def _moved(self, before: Published | None, after: Published | None) -> None:
        if before is not None:
            self._indexes[before.audience].remove(before.item_id)
            self._queue.pop(before.item_id, None)
        if after is not None:
            self._queue[after.item_id] = time.monotonic()
            self._some.set()
            self._idle.clear()

    async def start(self) -> None:
        self._task = spawn(self._run(), name="indexer")

    async def stop(self) -> None:
        await cancel(self._task)

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
            began = time.monotonic()
            await self._add(item_id)
            await asyncio.sleep(0 if self._hurry else time.monotonic() - began)  # visitors come first

    async def _add(self, item_id: UUID) -> None:
        item = self._view.item(item_id)
        if item is not None:
            try:
                text = await self._renderer.text(item)
            except (NotFound, BadReceipt):
                text = None  # the watch reports it
            except Transient:
                await asyncio.sleep(1)
                return
            if text is not None and self._view.item(item_id) == item:
                self._put(item, text)
        if item == self._view.item(item_id):
            self._queue.pop(item_id, None)
        await asyncio.sleep(0)

    def _put(self, item: Published, text: Text) -> None:
        words = item.summary + "\n" + plain_text(text.rendered.html)
        self._indexes[item.audience].add(item.item_id, item.title, words)
        self._briefs[item.item_id] = Brief(item.summary or text.rendered.summary, text.minutes)
        for cache in self._caches:
            cache.drop_referring(ANY)
