"""Lessons of all owners, each found by an index of their own, kept in memory while there is room."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakValueDictionary

from schemas.outward import Owner
from services.agent.lessons import store
from services.agent.lessons.domain import Learnt, Lesson, Origin
from services.agent.lessons.index import Index
from services.agent.lessons.splitting import asked
from services.agent.lessons.usecases import add_lesson, drop_lesson, split_anew
from shared.db import Database

MOST_WORDS = 3_000_000
"""Words of all indexes in memory together, some 60 MB; those used longest ago go first."""


class Lessons:
    """One for a process. An index is used only while its version is the owner's newest, whichever instance changed it."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._indexes: OrderedDict[Owner, Index] = OrderedDict()
        self._locks: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    async def add(self, owner: Owner, learnt: Learnt, origin: Origin) -> int:
        async with self._db.owned(owner) as tx:
            return await add_lesson(tx, owner, learnt, origin)

    async def drop(self, owner: Owner, lesson_id: int) -> None:
        async with self._db.owned(owner) as tx:
            await drop_lesson(tx, owner, lesson_id)

    async def newest(self, owner: Owner, limit: int) -> Sequence[Lesson]:
        async with self._db.owned(owner) as tx:
            return await store.newest(tx, owner, limit)

    async def search(self, owner: Owner, text: str, limit: int) -> list[tuple[Lesson, float]]:
        """The best first, each with its score. Nothing for words that none of this owner's lessons has."""
        words = asked(text)
        if not words:
            return []
        index = await self._index(owner)
        hits = index.search(words, limit)
        if not hits:
            return []
        async with self._db.owned(owner) as tx:
            found = await store.some(tx, owner, [each.lesson_id for each in hits])
        return [(found[each.lesson_id], each.score) for each in hits if each.lesson_id in found]

    async def _index(self, owner: Owner) -> Index:
        """Made by one task for all that wait for it."""
        lock = self._locks.setdefault(owner, asyncio.Lock())
        async with lock:
            async with self._db.owned(owner) as tx:
                version = await store.version(tx, owner)
            kept = self._indexes.get(owner)
            if kept is not None and kept.version == version:
                self._indexes.move_to_end(owner)
                return kept
            return await self._made(owner)

    async def _made(self, owner: Owner) -> Index:
        more = True
        while more:
            async with self._db.owned(owner) as tx:
                more = bool(await split_anew(tx, owner))
        async with self._db.owned(owner) as tx:
            version = await store.version(tx, owner)
            words = await store.words(tx, owner)
        index = await asyncio.to_thread(Index, version, words)
        self._indexes[owner] = index
        self._indexes.move_to_end(owner)
        while len(self._indexes) > 1 and sum(each.size for each in self._indexes.values()) > MOST_WORDS:
            self._indexes.popitem(last=False)
        return index
