"""Reading an access log in combined format: which lines are page views (rule 30a)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID, uuid5

_LINE = re.compile(
    r'(?P<address>\S+) \S+ .*?\[(?P<at>[^\]]+)\] "(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}) \S+'
    r'(?: "(?P<referrer>(?:[^"\\]|\\.)*)" "(?P<agent>(?:[^"\\]|\\.)*)")?'
)
_TIME = "%d/%b/%Y:%H:%M:%S %z"
MAX_PATH = 2000
PAGES = (".html", ".xhtml")


@dataclass(frozen=True)
class PageView:
    """One page view. `line` counts from 1; `path` is without its query; `referrer`: the host that it came from, nothing more of it (S7)."""

    line: int
    text: str
    address: str
    agent: str
    at: datetime
    path: str
    referrer: str = ""

    def wire(self, run: UUID) -> dict[str, str]:
        """For the site's door. The id is the same however often this line is sent in one run."""
        return {
            "id": str(uuid5(run, f"{self.line} {self.text}")),
            "address": self.address,
            "agent": self.agent,
            "at": self.at.isoformat(),
            "path": self.path,
            "referrer": self.referrer,
        }


def read_views(lines: Iterable[str]) -> Iterator[PageView | None]:
    """A page view for each line that is one, None for each that is not."""
    for number, line in enumerate(lines, start=1):
        yield _view(number, line.rstrip("\r\n"))


def _view(number: int, line: str) -> PageView | None:
    found = _LINE.match(line)
    if found is None or found["status"] not in {"200", "304"}:
        return None
    method, _, rest = found["request"].partition(" ")
    path = _path(rest.rpartition(" ")[0] if " " in rest else rest)
    try:
        at = datetime.strptime(found["at"], _TIME)
    except ValueError:
        return None
    if method != "GET" or path is None or not is_page(path):
        return None
    return PageView(
        number, line, found["address"], found["agent"] or "", at, path, referring_host(found["referrer"] or "")
    )


def _path(target: str) -> str | None:
    """The path of a request target, without scheme, host, query and fragment."""
    if target.lower().startswith(("http://", "https://")):
        target = "/" + target.split("//", 1)[1].partition("/")[2]
    path = target.partition("?")[0].partition("#")[0]
    return path if path.startswith("/") and len(path) <= MAX_PATH and path.isprintable() else None


def referring_host(said: str) -> str:
    """Of an http or https address; empty for anything else."""
    try:
        place = urlsplit(said)
        host = place.hostname or ""
    except ValueError:
        return ""
    plain = re.fullmatch(r"[a-z0-9.:-]{1,253}", host) is not None
    return host if place.scheme in ("http", "https") and plain else ""


def is_page(path: str) -> bool:
    """Rule 30a: the last segment has no extension, or ends in .html or .xhtml."""
    segment = path.rpartition("/")[2]
    return "." not in segment or segment.endswith(PAGES)
