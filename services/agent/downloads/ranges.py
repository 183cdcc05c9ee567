"""Which part of a file is asked for (RFC 9110, 14). One part at a time: whoever asks for several gets the whole."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime

_ONE = re.compile(r"\s*bytes\s*=\s*(\d{0,18})\s*-\s*(\d{0,18})\s*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """Bytes `first` to `last` of it, both included."""

    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class Version:
    """What a file is now. `changed` in nanoseconds since 1970."""

    size: int
    changed: int
    inode: int

    @property
    def tag(self) -> str:
        return f'"{self.inode:x}-{self.changed:x}-{self.size:x}"'

    @property
    def date(self) -> str:
        return formatdate(self.changed // 10**9, usegmt=True)


class Unsatisfiable(Exception):
    """Nothing of the part lies in the file."""


def part_of(headers: Mapping[str, str], version: Version) -> Part | None:
    """None: the whole. Unsatisfiable."""
    asked = headers.get("range", "")
    if not asked or not _still(headers.get("if-range", ""), version):
        return None
    found = _ONE.fullmatch(asked)
    if found is None or found[1] == found[2] == "":
        return None
    first, last = found[1], found[2]
    if first and last and int(last) < int(first):
        return None
    begin = int(first) if first else max(version.size - int(last), 0)
    end = int(last) if first and last else version.size - 1
    if begin >= version.size or (not first and int(last) == 0):
        raise Unsatisfiable
    return Part(begin, min(end, version.size - 1))


def is_known(headers: Mapping[str, str], version: Version) -> bool:
    """Whether the asker has this version already."""
    tags = headers.get("if-none-match", "")
    if tags:
        return tags.strip() == "*" or version.tag in {each.strip().removeprefix("W/") for each in tags.split(",")}
    since = headers.get("if-modified-since", "")
    try:
        return bool(since) and version.changed // 10**9 <= parsedate_to_datetime(since).timestamp()
    except ValueError:
        return False


def _still(named: str, version: Version) -> bool:
    return not named or named.strip() in (version.tag, version.date)
