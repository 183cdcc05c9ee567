"""Memory and progress: files of lines that are appended to, and otherwise left as people have them (rule 21)."""

import asyncio
import os
from collections.abc import Sequence
from datetime import date
from zoneinfo import ZoneInfo

import structlog

from schemas.outward import Owner
from services.agent.domain import mend
from services.agent.memory import beneath, store
from services.agent.memory.domain import (
    MEMORY,
    MOST_MEMORY,
    PROGRESS,
    READ_AT_START,
    Pruning,
    cut,
    line_of,
    matching,
    on_one_line,
    propose_pruning,
)
from services.agent.memory.homes import Homes
from services.agent.owners.domain import Me
from shared.clock import now
from shared.errors import Conflict, SchleuseError, TooLarge

log = structlog.get_logger()
LONGEST_PROGRESS = 1000
"""Characters of a line of progress."""


class Lines(Homes):
    async def read_at_start(self, me: Me) -> tuple[str, int]:
        """The first 16 KiB of memory, and how many bytes are left out (rule 21). Nothing for a guest, and where it cannot be read."""
        if me.is_guest:
            return "", 0
        try:
            return cut(*await self._file(me.owner, MEMORY, READ_AT_START))
        except SchleuseError as error:
            log.error("memory.unreadable", reason=error.message)
            return "", 0

    async def memory(self, me: Me) -> str:
        """The whole of it, as far as it is readable text."""
        raw, _ = await self._file(me.owner, MEMORY, MOST_MEMORY)
        return raw.decode("utf-8", "replace").replace("\x00", "\ufffd")

    async def remember(self, me: Me, text: str, sources: Sequence[str] = ()) -> tuple[str, int]:
        """Append one line `- YYYY-MM-DD: X`, the day being the owner's; the line, and how long the file is in bytes. Refused, TooLarge.

        `sources`: what untrusted text stood in the conversation in which a person allowed it.
        """
        line = line_of(_day(me), mend(text), sources)
        return line, await self._append(me.owner, MEMORY, line)

    async def progress(self, me: Me, line: str, sources: Sequence[str] = ()) -> None:
        """Append to progress.md what was done. `sources` mark the file: whoever reads it has read what stands in it."""
        if me.is_guest:
            return
        if sources:
            async with self._db.owned(me.owner) as tx:
                await store.mark(tx, me.owner, PROGRESS, "", sources)
        at = now().astimezone(ZoneInfo(me.zone))
        await self._append(
            me.owner, PROGRESS, f"- {at:%Y-%m-%d %H:%M %Z}: {on_one_line(mend(line))[:LONGEST_PROGRESS]}"
        )

    async def forget_lines(self, me: Me, words: str, *, several: bool = False) -> list[str]:
        """Take the lines out of memory that say this; those that went. Conflict when more than one does, unless `several`."""

        async def step(home: int) -> list[str]:
            return await asyncio.to_thread(_take_out, home, words, several)

        return await self._hold(me.owner, step)

    async def pruning(self, me: Me) -> Pruning | None:
        """What could go when memory is above 12 KiB. It is proposed, and never done by itself."""
        return propose_pruning(await self.memory(me))

    async def _file(self, owner: Owner, name: str, most: int) -> tuple[bytes, int]:
        def look(home: int | None) -> tuple[bytes, int]:
            if home is None or not beneath.exists(home, name):
                return b"", 0
            return beneath.read(home, name, most)

        return await self._read(owner, look)

    async def _append(self, owner: Owner, name: str, line: str) -> int:
        def add(home: int) -> int:
            if beneath.exists(home, name) and beneath.read(home, name, 0)[1] + len(line) > MOST_MEMORY:
                raise TooLarge(
                    f"{name} has {MOST_MEMORY // 1024} KiB, which is all that it may have; shorten it first."
                )
            return beneath.append(home, name, line.encode())

        async def step(home: int) -> int:
            return await asyncio.to_thread(add, home)

        return await self._hold(owner, step)


def _day(me: Me) -> date:
    return now().astimezone(ZoneInfo(me.zone)).date()


def _take_out(home: int, words: str, several: bool) -> list[str]:
    """Lines as they stand; everything else stays byte for byte. Begun again when somebody changed the file meanwhile."""
    while beneath.exists(home, MEMORY):
        found = beneath.open_file(home, MEMORY, os.O_RDONLY)
        try:
            facts = os.fstat(found)
            raw = beneath.read(home, MEMORY, MOST_MEMORY)[0]
        finally:
            os.close(found)
        lines = raw.splitlines(keepends=True)
        said = [line.decode("utf-8", "replace").rstrip("\r\n") for line in lines]
        gone = matching(said, words)
        if not gone:
            return []
        if len(gone) > 1 and not several:
            listed = "\n".join(gone[:10])
            raise Conflict(
                f"{len(gone)} lines of memory say this; nothing was taken out. Name the one that is meant:\n{listed}"
            )
        kept = b"".join(line for line, text in zip(lines, said, strict=True) if text not in gone)
        if beneath.replace(home, MEMORY, kept, unless_changed=facts):
            return gone
    return []
