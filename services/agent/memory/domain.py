"""The rules of a workspace: what its files may be called, what memory takes, and what could go from it (rules 14, 19, 21). No framework."""

import codecs
import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from schemas.outward import Owner
from shared.errors import Refused, TooLarge
from shared.markup import invisible

MEMORY, PROGRESS = ".memory.md", "progress.md"
KEPT_BY_US = (MEMORY, PROGRESS)
"""Written by tools of their own only."""
READ_AT_START = 16 * 1024
"""Bytes of memory that every chat begins with."""
PRUNE_ABOVE = 12 * 1024
LONGEST_LINE = 4096
"""Bytes of what is remembered at once."""
MOST_MEMORY = 1024 * 1024
MOST_FILE = 1024 * 1024
"""Bytes of a text file that the agent writes."""
MOST_FILES, MOST_BYTES = 10_000, 2 * 1024 * 1024 * 1024
"""Of one workspace."""
LONGEST_NAME, DEEPEST = 255, 8
ACTED_ON = ("skills", "jobs")
"""Folders whose files tell the agent what to do: nothing is written there in a conversation that has read untrusted text (S11)."""
EVERYWHERE = ("drafts", "assets", "uploads", "downloads", *ACTED_ON, "docs")
"""Folders that every workspace has."""
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_UNWRITTEN = {"Cc", "Cn", "Co", "Zl", "Zp"}
"""Categories of characters that stand in no name: controls, breaks, and what means nothing to anybody else."""
_BREAKS = re.compile(r"(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])+")
_PLAIN = re.compile(r"[\w./-]{1,60}(?: \(\d{1,4}\))?(?:\.\w{1,10})?")
_ARTICLE = re.compile(r"\A(?:the|an?|my|our|das|de[mnrs]|die|(?:ein|mein|dein|unser)(?:e[mnrs]?)?) ")
_DATED = re.compile(r"- (\d{4}-\d{2}-\d{2}): ")


def folder_of(owner: Owner) -> str:
    """One folder for each owner: no two share one, whatever their ids look like. Only people have one (rule 22)."""
    if owner.kind != "user":
        raise Refused("A guest has no workspace; nothing of a guest is kept.", code="guest")
    if _UUID.match(owner.id):
        return f"user-{owner.id}"
    return f"user-x{hashlib.sha256(owner.id.encode('utf-8', 'surrogatepass')).hexdigest()}"


def on_one_line(text: str) -> str:
    return _BREAKS.sub(" ", text).strip()


def line_of(day: date, text: str, sources: Sequence[str] = ()) -> str:
    """`- YYYY-MM-DD: X`. What a person allowed in a conversation that had read untrusted text says so, for good (S11)."""
    said = on_one_line(text)
    if not said:
        raise Refused("There is nothing to remember: the text is empty.", code="empty")
    if len(said.encode()) > LONGEST_LINE:
        raise TooLarge(
            f"What is remembered at once has at most {LONGEST_LINE // 1024} KiB; write longer texts into a file."
        )
    origin = f" [after reading: {on_one_line('; '.join(sources))[:300]}]" if sources else ""
    return f"- {day.isoformat()}: {said}{origin}"


def check_path(name: str) -> tuple[str, ...]:
    """A file's path in its workspace, as segments in NFC. Refused for whatever could mean another place, or be read as another name."""
    path = unicodedata.normalize("NFC", name)
    parts = tuple(path.split("/"))
    if not name or len(parts) > DEEPEST or any(_fault(part) for part in parts):
        raise Refused(
            f"{name[:80]!r} is no name for a file here: folders and names without a leading dot, `..`, control or invisible"
            f" characters, at most {LONGEST_NAME} bytes each and {DEEPEST} deep, joined by `/`.",
            code="name",
        )
    return parts


def _fault(part: str) -> bool:
    if not part or part.startswith(".") or part != part.strip() or any("\ud800" <= char <= "\udfff" for char in part):
        return True
    return (
        len(part.encode()) > LONGEST_NAME
        or "\\" in part
        or bool(invisible(part) or _UNWRITTEN & {unicodedata.category(char) for char in part})
    )


def named(path: str) -> str:
    """A file as a source of untrusted text names it. What such a text has called a file may be a sentence of its own, and sources stand where people
    and models take words for ours: in the preface, on cards, in memory."""
    return path if _PLAIN.fullmatch(path) else "with an unusual name"


def numbered(name: str, number: int) -> str:
    """`name (2).ext` (rule 14)."""
    stem, dot, ending = name.rpartition(".")
    return f"{name} ({number})" if not stem else f"{stem} ({number}){dot}{ending}"


def cut(raw: bytes, size: int) -> tuple[str, int]:
    """The first `READ_AT_START` bytes, whole characters, and how many bytes of `size` are left out."""
    kept = raw[:READ_AT_START]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(kept, final=size <= len(kept))
    return text.replace("\x00", "\ufffd"), size - len(kept) + len(decoder.getstate()[0])


@dataclass(frozen=True)
class Pruning:
    """What could go from a memory that is too long: exact lines, and what would be left."""

    size: int
    lines: tuple[str, ...]
    left: int


def propose_pruning(text: str) -> Pruning | None:
    """Repeated lines first, then the oldest that carry a date, until 12 KiB are left. None when it is short enough. Nothing is done by it."""
    size = len(text.encode())
    if size <= PRUNE_ABOVE:
        return None
    lines = text.splitlines()
    repeated = [line for at, line in enumerate(lines) if line.strip() and line in lines[:at]]
    dated = sorted((line for line in dict.fromkeys(lines) if _DATED.match(line)), key=lambda line: line[2:12])
    chosen, left = [], size
    for line in (*repeated, *dated):
        if left <= PRUNE_ABOVE:
            break
        chosen.append(line)
        left -= len(line.encode()) + 1
    return Pruning(size, tuple(chosen), left)


def matching(lines: Sequence[str], words: str) -> list[str]:
    """Lines that say just that, or, when none does, lines in which it stands, if need be without its article. Case does not count."""
    wanted = on_one_line(words).casefold()
    said = {line: _DATED.sub("", line, count=1).casefold() for line in lines if line.strip()}
    exact = [line for line, text in said.items() if wanted in (text, line.casefold())]
    within = exact or [line for line, text in said.items() if wanted and wanted in text]
    bare = _ARTICLE.sub("", wanted, count=1)
    return within or [line for line, text in said.items() if bare and bare in text]
