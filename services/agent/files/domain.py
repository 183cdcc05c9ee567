"""What a workspace holds, and how much of it. No framework."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from services.agent.memory.domain import ACTED_ON, MOST_BYTES, MOST_FILES
from shared.errors import Refused, TooLarge

MOST_UPLOAD = 200 * 1024 * 1024
"""Bytes of one file that is put in (rule 14)."""
LEAST_FREE = 256 * 1024 * 1024
"""Bytes that stay free on the disk: files of people must not keep the services from writing."""
PART = ".part-"
"""How the name of a file begins that is coming in."""
UPLOADS, DOWNLOADS = "uploads", "downloads"
FOLDERS = {
    "drafts": "what is being written",
    "assets": "pictures and other files to be used",
    UPLOADS: "what was put into the chat",
    DOWNLOADS: "what is offered for download",
    "skills": "how the agent does things",
    "jobs": "what the agent does by itself",
    "docs": "how this product works; to read only",
}
How = Literal["number", "replace", "refuse"]
"""What happens to a name that is taken: `name (2).ext`, the old file goes, or nothing is written."""
PUT_IN = "put into the workspace as a file"
"""Where text of an uploaded file came from: whoever put it in chose it, and need not have written it (S11)."""


@dataclass(frozen=True)
class Row:
    """A line of a folder. `path` from the top of the workspace; `changed` is None for a folder that is not there yet. `odd`: letters of two alphabets
    in one word."""

    path: str
    name: str
    is_folder: bool
    size: int = 0
    changed: datetime | None = None
    from_outside: bool = False
    odd: bool = False
    about: str = ""


@dataclass(frozen=True)
class Hit:
    """A line in which the words stand; `line` counts from 1. `from_outside` as the file's."""

    path: str
    line: int
    text: str
    from_outside: bool = False


@dataclass(frozen=True)
class Room:
    """What of a workspace is used, and what may still be put in, in bytes."""

    files: int
    used: int
    left: int


def check_tainted(parts: Sequence[str], how: str, sources: Sequence[str]) -> None:
    """What a conversation that has read untrusted text does to no file (S11)."""
    if sources and parts[0].casefold() in ACTED_ON:
        raise Refused(f"This conversation has read text from outside; nothing is put into {parts[0]}/ in it. Begin a new one, or clear the mark.", code="tainted")  # fmt: skip
    if sources and how == "replace":
        raise Refused("This conversation has read text from outside; no file is replaced in it. Use another name.", code="tainted")  # fmt: skip


def check_room(files: int, used: int, more: int = 0) -> None:
    """TooLarge when the workspace is full."""
    if files >= MOST_FILES or used + more > MOST_BYTES:
        raise full()


def full() -> TooLarge:
    return TooLarge(f"The workspace is full: at most {MOST_FILES} files and {MOST_BYTES >> 30} GiB. Delete something first.")  # fmt: skip


def too_large() -> TooLarge:
    return TooLarge(f"A file that is put in has at most {MOST_UPLOAD >> 20} MB. Nothing of it was kept.")
