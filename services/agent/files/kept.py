"""Files of one owner: put in as they come, opened, listed, moved and deleted, and nothing outside the owner's folder touched (rule 14)."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

from schemas.outward import Owner
from services.agent.files import incoming, places, searching
from services.agent.files.domain import (
    LEAST_FREE,
    MOST_UPLOAD,
    PUT_IN,
    How,
    Room,
    Row,
    check_room,
    check_tainted,
    too_large,
)
from services.agent.files.incoming import Incoming
from services.agent.files.opened import Opened
from services.agent.files.searching import MOST_HITS, Searched
from services.agent.memory import beneath, store
from services.agent.memory.domain import ACTED_ON, MOST_BYTES, check_path
from services.agent.memory.files import SHORTEST_MARK
from services.agent.memory.homes import Homes, whole
from services.agent.memory.names import check_file, check_new, check_ours
from services.agent.owners.domain import Me
from shared.db import Database
from shared.errors import Away, Refused

PIECE = 1024 * 1024
"""Bytes that are written at once."""


class Files(Homes):
    """`least_free`: bytes that an upload leaves on the disk."""

    def __init__(self, root: Path, db: Database, least_free: int = LEAST_FREE) -> None:
        super().__init__(root, db)
        self._least_free = least_free

    async def open(self, me: Me, path: str) -> Opened:
        """A plain file, to be closed by whoever asked. `sources`: where untrusted text in it came from. NotFound, Refused."""
        parts = check_path(path)
        async with self._db.owned(me.owner) as tx:
            sources = await store.sources_of(tx, me.owner, "/".join(parts), "")
        found = await self._read(me.owner, lambda home: places.open_plain(home, parts))
        return found.from_outside(sources)

    async def save(
        self,
        me: Me,
        path: str,
        stream: AsyncIterable[bytes],
        how: How = "number",
        sources: Sequence[str] = (),
        *,
        size: int = 0,
    ) -> str:
        """Write what comes into a new file; the path that it has then. All of it or nothing: also when the stream breaks off or the disk is full.

        `sources`: where text in it came from, when it is not the owner's own; such a file is marked (S11). `size`: bytes, when they are known before.
        TooLarge, Refused, Conflict (a taken name, with `refuse`), Away (no room on the disk).
        """
        parts = check_file(check_new(path))
        check_tainted(parts, how, sources)
        return await self._save(me.owner, parts, stream, how, sources, size)

    async def put_in(self, me: Me, path: str, stream: AsyncIterable[bytes], how: How = "number", size: int = 0) -> str:
        """The same by the owner's own hand. What they put in counts as from outside until they have looked at it, but for skills and jobs: putting
        a file there is to say that the agent is to follow it."""
        parts = check_file(check_new(path))
        sources = () if parts[0].casefold() in ACTED_ON else (PUT_IN,)
        return await self._save(me.owner, parts, stream, how, sources, size)

    async def edit(self, me: Me, path: str, content: bytes, sources: Sequence[str] = ()) -> str:
        """Replace what stands in a file by the owner's own hand; it stays marked as it was (`sources`)."""
        return await self._save(me.owner, check_new(path), _once(content), "replace", sources, len(content))

    async def write(self, me: Me, path: str, content: bytes, how: How = "number", sources: Sequence[str] = ()) -> str:
        """The same with what is there already."""
        return await self.save(me, path, _once(content), how, sources, size=len(content))

    async def list(self, me: Me, folder: str = "") -> Sequence[Row]:
        """What lies in a folder: folders first, both by name. NotFound."""
        parts = check_path(folder) if folder else ()
        found = await self._read(me.owner, lambda home: places.look(home, parts))
        async with self._db.owned(me.owner) as tx:
            marked = await store.marked_paths(tx, me.owner)
        return places.rows(found, parts, marked)

    async def search(self, me: Me, words: str, folder: str = "", most: int = MOST_HITS) -> Searched:
        """Lines in which these words stand, by file. Refused without words."""
        inside = "/".join(check_path(folder)) if folder else ""
        found = await self._read(me.owner, lambda home: searching.search(home, words, inside, most))
        contents = await self._read(me.owner, lambda home: searching.contents(home, found.hits))
        async with self._db.owned(me.owner) as tx:
            marked = {path for path, known in contents.items() if await store.sources_of(tx, me.owner, path, known)}
        return replace(found, hits=tuple(replace(each, from_outside=each.path in marked) for each in found.hits))

    async def make_folder(self, me: Me, path: str) -> str:
        parts = check_new(path)

        async def step(home: int) -> None:
            await asyncio.to_thread(places.make, home, parts)

        await self._hold(me.owner, step)
        return "/".join(parts)

    async def move(self, me: Me, path: str, to: str, how: How = "refuse", sources: Sequence[str] = ()) -> str:
        """Give a file or folder another name or place; the path that it has then. Marks go with it. NotFound, Refused, Conflict.

        `to` may be a folder that is there: the name stays. `sources`: what the conversation that does it has read.
        """
        parts, wanted = check_path(path), check_new(to)
        check_ours(parts)
        check_tainted(wanted, how, sources)
        check_tainted(parts, "", sources)

        async def step(home: int) -> str:
            return await self._move(me.owner, home, parts, wanted, how, sources)

        return await self._hold(me.owner, step)

    async def delete(self, me: Me, path: str, *, everything: bool = False) -> int:
        """Delete a file or an empty folder, or with `everything` a folder with all that is in it; how many files went. NotFound, Refused."""
        parts = check_path(path)
        check_ours(parts)

        async def step(home: int) -> int:
            count = await asyncio.to_thread(places.delete, home, parts, everything)
            async with self._db.owned(me.owner) as tx:
                await store.clear(tx, me.owner, "/".join(parts), below=True)
            return count

        return await self._hold(me.owner, step)

    async def vouch(self, me: Me, path: str) -> None:
        """The owner has looked at a file and says that it is theirs: it counts as from outside no more. Only ever by a page of the owner's own."""
        parts = check_path(path)

        async def step(home: int) -> None:
            with await asyncio.to_thread(places.open_plain, home, parts) as found:
                content_hash = await asyncio.to_thread(beneath.digest, found.fd)
            async with self._db.owned(me.owner) as tx:
                await store.vouch(tx, me.owner, "/".join(parts), content_hash)

        await self._hold(me.owner, step)

    async def room(self, me: Me) -> Room:
        files, used = await self._read(me.owner, places.used)
        return Room(files, used, max(0, MOST_BYTES - used))

    async def _save(
        self, owner: Owner, parts: tuple[str, ...], stream: AsyncIterable[bytes], how: How, sources: Sequence[str], size: int
    ) -> str:  # fmt: skip
        coming = await whole(asyncio.to_thread(self._begin, owner, size))
        try:
            await _pour(stream, coming)
            return await self._hold(owner, lambda home: self._name(owner, home, coming, parts, how, sources))
        finally:
            await whole(asyncio.to_thread(self._drop, owner, coming))

    def _begin(self, owner: Owner, size: int) -> Incoming:
        """Refuses at once what cannot fit."""
        with self._home(owner, make=True) as home:
            assert home is not None, "it was made"
            incoming.sweep(home)
            files, used = places.used(home)
            check_room(files, used, size)
            if size > MOST_UPLOAD:
                raise too_large()
            if not incoming.has_free(home, self._least_free + size):
                raise Away("There is no room on the disk for this file; nothing of it was kept.")
            return Incoming(home, MOST_BYTES - used, self._least_free)

    async def _name(self, owner: Owner, home: int, coming: Incoming, parts: tuple[str, ...], how: How, sources: Sequence[str]) -> str:  # fmt: skip
        """Marked before it has its name: a crash in between leaves a mark too many."""
        chosen = await asyncio.to_thread(places.choose, home, parts, how, coming.size)
        path = "/".join(chosen)
        if sources:
            async with self._db.owned(owner) as tx:
                known = coming.content_hash if coming.size >= SHORTEST_MARK else ""
                await store.mark(tx, owner, path, known, sources)
        await asyncio.to_thread(places.give_name, home, coming, chosen)
        if not sources:
            async with self._db.owned(owner) as tx:
                await store.clear(tx, owner, path)
        return path

    async def _move(self, owner: Owner, home: int, parts: tuple[str, ...], wanted: tuple[str, ...], how: How, sources: Sequence[str]) -> str:  # fmt: skip
        chosen = await asyncio.to_thread(places.plan_move, home, parts, wanted, how)
        old, new = "/".join(parts), "/".join(chosen)
        async with self._db.owned(owner) as tx:
            marked = await store.is_marked(tx, owner, old)
            if marked and sources and chosen[0].casefold() in ACTED_ON:
                raise Refused(f"{old} holds text from outside; the agent does not put it into {chosen[0]}/.", code="tainted")  # fmt: skip
            await store.carry(tx, owner, old, new)
            if sources:
                await store.mark(tx, owner, new, "", sources)
        await asyncio.to_thread(places.move, home, parts, chosen)
        async with self._db.owned(owner) as tx:
            await store.clear(tx, owner, old, below=True)
        return new

    def _drop(self, owner: Owner, coming: Incoming) -> None:
        coming.close()
        with self._home(owner) as home:
            if home is not None:
                incoming.drop(home, coming.name)


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def _pour(stream: AsyncIterable[bytes], coming: Incoming) -> None:
    """One piece is written while the next comes in."""
    waiting, writing = bytearray(), None
    try:
        async for part in stream:
            waiting += part
            if len(waiting) >= PIECE:
                if writing is not None:
                    await writing
                writing = asyncio.ensure_future(asyncio.to_thread(coming.write, bytes(waiting)))
                waiting.clear()
    finally:
        if writing is not None:
            await whole(writing)
    if waiting:
        await whole(asyncio.to_thread(coming.write, bytes(waiting)))
    await whole(asyncio.to_thread(coming.flush))
