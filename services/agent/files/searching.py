"""Text search in one's files: every line in which the words stand, case and composition aside. In a thread, within bounds of bytes and time."""

import os
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from services.agent.files import places
from services.agent.files.domain import Hit
from services.agent.memory import beneath
from services.agent.memory.files import SHORTEST_MARK
from shared.errors import Refused, SchleuseError

MOST_HITS = 100
MOST_READ = 256 * 1024 * 1024
LONGEST_LINE, BEFORE = 300, 80
"""Characters of a line that are shown, and of those before the words in a long one."""
PIECE = 1024 * 1024
TOLD_BY = 1024
PATIENCE = 10.0


@dataclass(frozen=True)
class Searched:
    """`whole`: every file was looked at to its end."""

    hits: tuple[Hit, ...]
    whole: bool


def search(home: int | None, words: str, folder: str, most: int) -> Searched:
    """Refused without words. Files that are no text are left out."""
    wanted = fold(words.strip())
    if not wanted:
        raise Refused("There are no words to search for.", code="words")
    if home is None:
        return Searched((), True)
    looking = _Looking(wanted, time.monotonic() + PATIENCE)
    inside = f"{unicodedata.normalize('NFC', folder)}/" if folder else ""
    found = islice(looking.files(home, inside), min(most, MOST_HITS))
    return Searched(tuple(found), looking.whole)


def contents(home: int | None, hits: Sequence[Hit]) -> dict[str, str]:
    """By path, what each file's content is recognised by: what was put in stays from outside under another name, too."""
    found = {each.path: "" for each in hits}
    for path in found if home is not None else ():
        with suppress(SchleuseError, OSError), places.open_plain(home, tuple(path.split("/"))) as file:
            found[path] = beneath.digest(file.fd) if file.size >= SHORTEST_MARK else ""
    return found


def fold(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


class _Looking:
    def __init__(self, wanted: str, until: float) -> None:
        self._wanted, self._until, self._read, self.whole = wanted, until, 0, True

    def files(self, home: int, inside: str) -> Iterator[Hit]:
        for entry in beneath.walk(home):
            path = unicodedata.normalize("NFC", entry.path)
            if not path.startswith(inside):
                continue
            with suppress(OSError, Refused):  # gone, or no plain file by now
                yield from self._file(home, entry.path, path)

    def _file(self, home: int, lying: str, path: str) -> Iterator[Hit]:
        if self._wanted in fold(path.rpartition("/")[2]):
            yield Hit(path, 0, "")
        *folders, name = lying.split("/")
        with beneath.folder(home, folders) as at:
            descriptor = beneath.open_file(at, name, os.O_RDONLY)
        try:
            if b"\0" in os.pread(descriptor, TOLD_BY, 0):
                return
            for number, line in enumerate(self._lines(descriptor), start=1):
                if self._wanted in fold(line):
                    yield Hit(path, number, _excerpt(line, self._wanted))
        finally:
            os.close(descriptor)

    def _lines(self, descriptor: int) -> Iterator[str]:
        """A line without an end is cut where a piece of the file ends."""
        at, rest = 0, b""
        while piece := os.pread(descriptor, PIECE, at):
            if self._read > MOST_READ or time.monotonic() > self._until:
                self.whole = False
                return
            at, self._read = at + len(piece), self._read + len(piece)
            *lines, rest = (rest + piece).split(b"\n")
            yield from (each.decode("utf-8", "replace") for each in lines)
            if len(rest) > PIECE:
                yield rest.decode("utf-8", "replace")
                rest = b""
        if rest:
            yield rest.decode("utf-8", "replace")


def _excerpt(line: str, wanted: str) -> str:
    """One line, cut around the words."""
    shown = " ".join(line.replace("\x00", "\ufffd").split())
    start = max(0, fold(shown).find(wanted) - BEFORE)
    cut = shown[start : start + LONGEST_LINE]
    return ("…" if start else "") + cut + ("…" if start + LONGEST_LINE < len(shown) else "")
