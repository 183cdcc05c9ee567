"""Rendered pages as bytes, with everything an answer needs worked out before."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from shared.web.guard import security_headers

CSP = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY = security_headers(CSP)
SHARED = b"public, max-age=0, s-maxage=1, must-revalidate"
PRIVATE = b"private, no-store"
MAX_BYTES = 64 * 1024 * 1024
ANY = "*"
"""The reference of a page that lists what is published: it changes with every publication."""

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Page:
    """A finished answer. `refs`: addresses whose coming or going changes it."""

    body: bytes
    etag: bytes
    headers: Headers
    not_modified: Headers
    refs: frozenset[str]


def make_page(body: bytes, media_type: str, refs: Iterable[str], caching: bytes = SHARED) -> Page:
    """A finished page. `Vary`: whoever brings a cookie may be signed in, and must not be given what a cache kept for the public.

    No date: a page that names others changes when one of them is withdrawn, and no date of what is left says so.
    """
    etag = b'"' + hashlib.sha256(body).hexdigest()[:20].encode() + b'"'
    known = [(b"etag", etag), (b"cache-control", caching), (b"vary", b"Cookie"), *SECURITY]
    length = [(b"content-type", media_type.encode()), (b"content-length", str(len(body)).encode())]
    return Page(body, etag, length + known, known, frozenset(refs))


class PageCache:
    """Pages by path. Holds at most 64 MiB; the page rendered longest ago goes first."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self._by_ref: dict[str, set[str]] = {}
        self._bytes = 0

    def keep(self, path: str, page: Page) -> None:
        self.drop(path)
        self.pages[path] = page
        self._bytes += len(page.body)
        for ref in page.refs:
            self._by_ref.setdefault(ref, set()).add(path)
        while self._bytes > MAX_BYTES:
            self.drop(next(iter(self.pages)))

    def drop(self, path: str) -> None:
        page = self.pages.pop(path, None)
        if page is None:
            return
        self._bytes -= len(page.body)
        for ref in page.refs:
            paths = self._by_ref[ref]
            paths.discard(path)
            if not paths:
                del self._by_ref[ref]

    def drop_referring(self, ref: str) -> None:
        """Drop every page that says something about this address."""
        for path in list(self._by_ref.get(ref, ())):
            self.drop(path)

    def clear(self) -> None:
        self.pages.clear()
        self._by_ref.clear()
        self._bytes = 0
