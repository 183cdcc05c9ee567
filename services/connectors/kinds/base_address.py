"""What the URL of an ask means: a connector's declared base address, or another host of its allow-list."""

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from services.connectors.egress.hosts import Target, parse_url
from shared.errors import Refused

OWN = ".connector"
"""`https://<connector>.connector/…` stands for the connector's base address."""


@dataclass(frozen=True)
class Place:
    """Where an ask leads. `own`: to the base address; credentials go there and nowhere else. `path`: below it, without the query."""

    target: Target
    own: bool
    path: str

    @property
    def line(self) -> str:
        """For the audit: parameters by name, without their values."""
        path, _, query = self.target.path_and_query.partition("?")
        names = [each.partition("=")[0] for each in query.split("&") if each]
        shown = f"{self.target.scheme}://{self.target.authority}{path}" + (f"?{'&'.join(names)}" if names else "")
        return shown if len(shown) <= 300 else f"{shown[:299]}…"


@lru_cache(maxsize=256)
def declared_at(base: str) -> Target:
    """A declared base address; it is read for every call."""
    return parse_url(base)


def resolve(base: str, connector: str, url: str) -> Place:
    """Refused (code `url`) when it is no URL, or lies on the base address's host but not below it."""
    asked, declared = parse_url(url), declared_at(base)
    top = declared.path_and_query.partition("?")[0].rstrip("/")
    if asked.host == f"{connector}{OWN}":
        target = Target(declared.scheme, declared.host, declared.port, f"{top}{asked.path_and_query}")
        return _place(target, own=True, below=top)
    if (asked.scheme, asked.key) != (declared.scheme, declared.key):
        return _place(asked, own=False, below="")
    if not f"{asked.path_and_query.partition('?')[0]}/".startswith(f"{top}/"):
        raise Refused(f"connector {connector} reaches only what lies below its base address; ask for that", code="url")
    return _place(asked, own=True, below=top)


def check_path(place: Place, patterns: tuple[str, ...]) -> None:
    """Refused (code `path`) unless a pattern fits."""
    if not fits(place, patterns):
        raise Refused(f"this path is not among those that the connector may use: {', '.join(patterns)}", code="path")


def fits(place: Place, patterns: tuple[str, ...]) -> bool:
    """Whether a pattern fits the path both as it stands and decoded: `*` within a segment, `**` over several."""
    spelled, read = place.path, unquote(place.path)
    return any(_fits(pattern, spelled) and _fits(pattern, read) for pattern in patterns)


def _place(target: Target, *, own: bool, below: str) -> Place:
    path = target.path_and_query.partition("?")[0].removeprefix(below) or "/"
    read = unquote(unquote(path)).replace("\\", "/")
    if any(segment.partition(";")[0] in {".", ".."} for segment in read.split("/")):  # `..;x` is `..` to some servers
        raise Refused("the path has . or .. segments in disguise; write the path that they lead to", code="url")
    return Place(target, own, path)


def _fits(pattern: str, path: str) -> bool:
    parts = re.split(r"(\*\*|\*)", pattern)
    wild = {"**": ".*", "*": "[^/]*"}
    return re.fullmatch("".join(wild.get(part, re.escape(part)) for part in parts), path, re.DOTALL) is not None
