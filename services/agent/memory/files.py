"""The workspace of each owner: memory, progress and files, with marks on what holds text from outside (architecture 5, rules 14, 21, S11)."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

from schemas.outward import Owner
from schemas.text import sha256
from services.agent.domain import mend
from services.agent.manual.shelf import manual
from services.agent.memory import beneath, store
from services.agent.memory.beneath import Entry
from services.agent.memory.domain import (
    ACTED_ON,
    KEPT_BY_US,
    MOST_BYTES,
    MOST_FILE,
    MOST_FILES,
    check_path,
    folder_of,
    numbered,
)
from services.agent.memory.homes import whole
from services.agent.memory.lines import Lines
from services.agent.memory.names import DOCS, check_file, check_new
from services.agent.owners.domain import Me
from shared.errors import NotFound, Refused, TooLarge

SHORTEST_MARK = 16
"""Bytes from which on a content is known again under another name; shorter ones stand everywhere."""
MOST_NUMBERED = 1000
EXPORTED = 4 * 1024 * 1024
"""Bytes of a file that are handed out at once."""
TOLD_BY = 1024
"""Bytes at the beginning by which a file is taken for text or not."""


class Workspaces(Lines):
    async def list(self, me: Me) -> Sequence[tuple[Entry, bool]]:
        """Files by path, and whether each holds text from outside."""
        entries = await self._read(me.owner, lambda home: [] if home is None else [*beneath.walk(home)])
        async with self._db.owned(me.owner) as tx:
            marked = await store.marked_paths(tx, me.owner)
        return [(entry, entry.path in marked) for entry in entries]

    async def read(self, me: Me, name: str, offset: int = 0, most: int = 64 * 1024) -> tuple[str, int, tuple[str, ...]]:
        """Text of at most `most` bytes from `offset` on, the file's size, and where untrusted text in it came from. NotFound, Refused."""
        parts = (name,) if name in KEPT_BY_US else check_path(name)
        if parts[0] == DOCS:
            page = manual().read("/".join(parts[1:])).encode()
            return page[offset : offset + most].decode("utf-8", "replace"), len(page), ()
        piece, size, known = await self._read(me.owner, lambda home: _piece(home, parts, offset, most))
        async with self._db.owned(me.owner) as tx:
            sources = await store.sources_of(tx, me.owner, "/".join(parts), known)
        return piece.decode("utf-8", "replace").replace("\x00", "\ufffd"), size, sources

    async def write(self, me: Me, name: str, text: str, how: str = "new", sources: Sequence[str] = ()) -> str:
        """Write a text file; the path that it has then. `how`: new (a taken name becomes `name (2).ext`), replace or append.

        `sources`: what untrusted text the conversation has read. Such a file is marked, takes the place of none, and is no skill or job.
        """
        parts, content = check_file(check_new(name)), mend(text).encode()
        _check(parts, content, how, sources)

        async def step(home: int) -> str:
            return await self._write(me.owner, home, parts, content, how, tuple(sources))

        return await self._hold(me.owner, step)

    async def _write(
        self, owner: Owner, home: int, parts: tuple[str, ...], content: bytes, how: str, sources: tuple[str, ...]
    ) -> str:
        """Marked before it is written: a crash in between leaves a mark too many."""
        parts, before = await asyncio.to_thread(_prepare, home, parts, len(content), how)
        path, after = "/".join(parts), before + content
        async with self._db.owned(owner) as tx:
            if before:
                sources = tuple(dict.fromkeys((*await store.sources_of(tx, owner, path, _known(before)), *sources)))
            if sources:
                await store.mark(tx, owner, path, _known(after), sources)
        await asyncio.to_thread(_put, home, parts, after)
        if not sources:
            async with self._db.owned(owner) as tx:
                await store.clear(tx, owner, path)
        return path

    async def export(self, owner: Owner) -> AsyncIterator[tuple[str, bytes]]:
        """Everything in a workspace, by path, a long file in pieces. What lies there instead of a plain file, or goes while the others are read, does not
        keep anybody from the rest; a name that is no text gets marks in it (rule 19)."""
        for path in await self._read(owner, lambda home: [] if home is None else _everything(home)):
            at, piece = 0, b""
            while at == 0 or piece:
                try:
                    piece = await self._read(owner, lambda home: _exported(home, path, at))  # noqa: B023 - awaited at once
                except (NotFound, Refused):
                    break
                if piece or at == 0:
                    yield f"{mend(path)}", piece
                at += max(1, len(piece))

    async def forget(self, owner: Owner) -> int:
        """Delete a workspace with all that is in it; how many files it had."""
        count = await self._read(owner, lambda home: 0 if home is None else len(_everything(home)))
        await whole(asyncio.to_thread(self._remove, folder_of(owner)))
        async with self._db.owned(owner) as tx:
            await store.forget(tx, owner)
        return count

    def _remove(self, name: str) -> None:
        with beneath.named_errors():
            root = self._open_root()
            try:
                if beneath.exists(root, name):
                    shutil.rmtree(name, dir_fd=root)
                    os.fsync(root)
            finally:
                os.close(root)


def _check(parts: tuple[str, ...], content: bytes, how: str, sources: Sequence[str]) -> None:
    if len(content) > MOST_FILE:
        raise TooLarge(
            f"The text has {len(content) // 1024} KiB; a file that I write has at most {MOST_FILE // 1024} KiB."
        )
    if sources and parts[0].casefold() in ACTED_ON:
        raise Refused(
            f"This conversation has read text from outside; nothing is written into {parts[0]}/ in it. Begin a new one, or clear the mark.",
            code="tainted",
        )
    if sources and how == "replace":
        raise Refused(
            "This conversation has read text from outside; no file is replaced in it. Write under another name.",
            code="tainted",
        )


def _prepare(home: int, parts: tuple[str, ...], length: int, how: str) -> tuple[tuple[str, ...], bytes]:
    """The path that the file will have, and what stays of what is there. TooLarge when the workspace is full."""
    entries = list(beneath.walk(home))
    if len(entries) >= MOST_FILES or sum(each.size for each in entries) + length > MOST_BYTES:
        raise TooLarge(f"The workspace is full: at most {MOST_FILES} files and {MOST_BYTES >> 30} GiB.")
    with beneath.folder(home, parts[:-1], make=True) as at:
        if how == "new":
            return (*parts[:-1], _free(at, parts[-1])), b""
        if how == "replace" or not beneath.exists(at, parts[-1]):
            return parts, b""
        before, size = beneath.read(at, parts[-1], MOST_FILE)
    if size + length > MOST_FILE:
        raise TooLarge(f"The file would have more than {MOST_FILE // 1024} KiB; write into another one.")
    return parts, before


def _free(at: int, name: str) -> str:
    for number in range(1, MOST_NUMBERED):
        chosen = name if number == 1 else numbered(name, number)
        if not beneath.exists(at, chosen):
            return str(check_path(chosen)[0])
    raise Refused(f"There are {MOST_NUMBERED} files of that name already.", code="name")


def _put(home: int, parts: tuple[str, ...], content: bytes) -> None:
    with beneath.folder(home, parts[:-1], make=True) as at:
        beneath.replace(at, parts[-1], content)


def _piece(home: int | None, parts: tuple[str, ...], offset: int, most: int) -> tuple[bytes, int, str]:
    """At most `most` bytes from `offset`, how long the file is, and what its whole content is recognised by."""
    if home is None:
        raise NotFound("There is no such file.", code="file")
    with beneath.folder(home, parts[:-1]) as at:
        found = beneath.open_file(at, beneath.resolve(at, parts[-1]), os.O_RDONLY)
    try:
        size = os.fstat(found).st_size
        if b"\0" in os.pread(found, TOLD_BY, 0):
            raise Refused(f"{'/'.join(parts)} is no text; it can be offered for download.", code="no_text")
        return os.pread(found, most, offset), size, beneath.digest(found) if size >= SHORTEST_MARK else ""
    finally:
        os.close(found)


def _everything(home: int) -> list[str]:
    """Paths of plain files."""
    hidden = [name for name in KEPT_BY_US if name.startswith(".") and beneath.exists(home, name)]
    return [path for path in (*hidden, *(entry.path for entry in beneath.walk(home))) if _is_plain(home, path)]


def _is_plain(home: int, path: str) -> bool:
    with suppress(OSError, Refused), beneath.folder(home, path.split("/")[:-1]) as at:
        os.close(beneath.open_file(at, path.rpartition("/")[2], os.O_RDONLY))
        return True
    return False


def _exported(home: int | None, path: str, start: int) -> bytes:
    *folders, name = path.split("/")
    if home is None:
        raise NotFound("There is no such file.", code="file")
    with beneath.folder(home, folders) as at:
        return beneath.read(at, name, EXPORTED, start)[0]


def _known(content: bytes) -> str:
    """What content is recognised by; empty for what is too short to say anything."""
    return sha256(content) if len(content) >= SHORTEST_MARK else ""
