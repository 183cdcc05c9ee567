"""Where a link may lead. Decided on the finished address, after entities and escapes are gone."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, unquote

import mdurl
from markdown_it.common.normalize_url import normalizeLink

HEADING_ID = "h-"
"""Prefix of all ids made from an author's text, so that they meet none of the page's own."""
PLACEHOLDER = "item:/"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_WEB = re.compile(r"https?://[^\s/?#\\]+", re.IGNORECASE)
_REMOVED_BY_BROWSERS = str.maketrans("", "", "\t\n\r")
_EDGES = "".join(map(chr, range(0x21)))
_NO_SEGMENT = re.compile(r"[\x00-\x20\\?#%]")
_EXTENSION = re.compile(r"\.(?:md|markdown|html?)\Z", re.IGNORECASE)
_ITEM_LINK = re.compile(r'<a href="item:/([^"#]*)(#[^"]*)?"[^>"]*(?:"[^"]*"[^>"]*)*>(.*?)</a>', re.DOTALL)


@dataclass(frozen=True)
class Target:
    """An address that may stand in an `href` (not yet HTML-escaped)."""

    href: str
    remote: bool = False


def target(address: str, base_path: str, ids: frozenset[str] | set[str] = frozenset()) -> Target | None:
    """Where a link in the item at `base_path` leads, or None when it must not be a link.

    http, https and mailto stay; `#frag` must name one of `ids`; anything relative becomes `item:/<path>#frag`.
    Control characters that browsers remove from addresses are removed before anything is decided.
    """
    clean = address.strip(_EDGES).translate(_REMOVED_BY_BROWSERS)
    if clean.startswith("//"):
        clean = "https:" + clean
    scheme = _SCHEME.match(clean)
    if scheme:
        return _absolute(scheme[1].lower(), clean)
    if clean.startswith("#"):
        inside = HEADING_ID + unquote(clean[1:])
        return Target("#" + quote(inside)) if inside in ids else None
    return _relative(clean, base_path)


def _absolute(scheme: str, address: str) -> Target | None:
    if scheme == "mailto":
        return Target(mdurl.encode(address))
    if scheme in ("http", "https") and _WEB.match(address):
        return Target(scheme + normalizeLink(address)[len(scheme) :], remote=True)
    return None


def _relative(address: str, base_path: str) -> Target | None:
    address, _, fragment = address.partition("#")
    path = item_path(unquote(address.partition("?")[0]), base_path)
    if path is None:
        return None
    end = "#" + quote(HEADING_ID + unquote(fragment)) if fragment else ""
    return Target(PLACEHOLDER + quote(path) + end)


def item_path(link: str, base_path: str) -> str | None:
    """The item path that a relative or rooted link names, seen from `base_path`; None when it leaves the root.

    A folder (`guide/`, `..`) means its `index`.
    """
    if not link or link == "/" or link.startswith("//"):
        return None
    parts = [] if link.startswith("/") else base_path.split("/")[:-1]
    segments = link.strip("/").split("/")
    for segment in segments:
        if segment == "..":
            if not parts:
                return None
            parts.pop()
        elif segment != ".":
            if not segment or _NO_SEGMENT.search(segment):
                return None
            parts.append(segment)
    if link.endswith("/") or segments[-1] in (".", ".."):
        parts.append("index")
    parts[-1] = _EXTENSION.sub("", parts[-1])
    return "/".join(parts) if parts[-1] else None


def resolve(rendered: str, lookup: Callable[[str], str | None]) -> str:
    """Replace `item:/` links by what `lookup(path)` gives, or by their plain text when it gives None.

    `lookup` gets item paths such as `tutorial/body`; a folder is also tried as its `index` and the other way round.
    """
    known: dict[str, str | None] = {}

    def address(quoted: str) -> str | None:
        if quoted not in known:
            path = unquote(html.unescape(quoted))
            known[quoted] = lookup(path) or lookup(_twin(path))
        return known[quoted]

    def replaced(link: re.Match[str]) -> str:
        url = address(link[1])
        return f'<a href="{html.escape(url)}{link[2] or ""}">{link[3]}</a>' if url else link[3]

    return _ITEM_LINK.sub(replaced, rendered)


def _twin(path: str) -> str:
    return path.removesuffix("/index") if path.endswith("/index") else path + "/index"
