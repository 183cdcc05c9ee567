"""What the pages of files show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.text import sha256
from services.agent.chat.showing import age
from services.agent.files.domain import Row
from services.agent.files.opened import Opened

DONE = {
    "taken": "It is here. Text in it counts as from outside until you have looked at it.",
    "nothing": "No file was chosen.",
    "made": "The folder is made.",
    "moved": "Moved.",
    "deleted": "Deleted.",
    "saved": "Saved.",
    "vouched": "What stands in it counts as yours now.",
}
"""After something was done; the address names which, and says nothing itself."""


@dataclass(frozen=True)
class RowShown:
    """A row with its words."""

    row: Row
    size: str
    age: str


@dataclass(frozen=True)
class Shown:
    """A file on its page. `text` is None when it is none; `version` is empty when it cannot be edited."""

    path: str
    name: str
    folder: str
    size: str
    age: str
    text: str | None
    whole: bool
    version: str
    sources: tuple[str, ...] = ()
    read_only: bool = False

    @classmethod
    def of_docs(cls, path: str, text: str) -> "Shown":
        folder, _, name = path.rpartition("/")
        return cls(path, name, folder, size_said(len(text.encode())), "", text, True, "", read_only=True)

    @classmethod
    def of_file(cls, found: Opened, raw: bytes, age_of: Callable[[datetime], str]) -> "Shown":
        folder, _, name = found.path.rpartition("/")
        whole = len(raw) == found.size
        text = _text(raw, whole)
        is_ours = found.path == "progress.md"
        version = sha256(raw) if whole and text is not None and not is_ours else ""
        changed = age_of(datetime.fromtimestamp(found.mtime, UTC))
        return cls(found.path, name, folder, size_said(found.size), changed, text, whole, version, found.sources, is_ours)  # fmt: skip


def shown_rows(rows: Sequence[Row], at: datetime) -> list[RowShown]:
    return [RowShown(row, size_said(row.size), age(row.changed, at) if row.changed else "") for row in rows]


def size_said(size: int) -> str:
    """In words of one figure and a unit."""
    amount, units = float(size), ["bytes", "KB", "MB", "GB"]
    while amount >= 1000 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    if units[0] == "bytes":
        return "1 byte" if size == 1 else f"{size} bytes"
    return f"{amount:.1f} {units[0]}"


def crumbs(folder: str) -> list[tuple[str, str]]:
    """(path, name) of each folder on the way."""
    parts = folder.split("/") if folder else []
    return [("/".join(parts[: at + 1]), part) for at, part in enumerate(parts)]


def _text(raw: bytes, whole: bool) -> str | None:
    """None for what is no text. A character that is cut at the end of a long one is left out."""
    if b"\0" in raw:
        return None
    try:
        return raw.decode("utf-8", "strict" if whole else "ignore")
    except UnicodeDecodeError:
        return None
