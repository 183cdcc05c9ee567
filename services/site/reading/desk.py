"""What all pages are made from, and how a finished one is kept."""

from dataclasses import dataclass
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from services.site.publication.books import Books
from services.site.publication.domain import Published
from services.site.publication.shelf import View
from services.site.reading.cache import PRIVATE, Page, make_page
from services.site.reading.catalog import Catalog
from services.site.reading.edition import Edition
from services.site.reading.front import is_known
from services.site.reading.layout import Layout
from services.site.reading.rendering import Renderer

HTML = "text/html; charset=utf-8"
UNSHARED = "schleuse.unshared"
"""The key in a request's scope of one that brings the cookie of a session."""


class PageResponse(Response):
    """A finished page with its own headers."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.body = page.body
        self.raw_headers = list(page.headers)


@dataclass(frozen=True)
class Desk:
    """`base_url` stands before absolute addresses."""

    books: Books
    edition: Edition
    renderer: Renderer
    base_url: str

    @property
    def view(self) -> View:
        return self.edition.view

    @property
    def catalog(self) -> Catalog:
        return self.edition.catalog

    @property
    def layout(self) -> Layout:
        return self.edition.layout

    def keep(self, request: Request, path: str, body: bytes, media_type: str, refs: set[str]) -> Response:
        """Answer with a finished page, and keep it for the next visitor (not those of a query).

        What somebody gets who has been signed in (`unshared`) is the public's page, but no cache may keep it.
        """
        unshared = bool(request.scope.get(UNSHARED))
        page = make_page(body, media_type, refs, PRIVATE if unshared else self.edition.caching)
        if not request.url.query and not unshared:
            self.edition.cache.keep(path, page)
        known = request.headers.get("if-none-match")
        if known is not None and is_known(page, known.encode("latin-1")):
            response = Response(status_code=304)
            response.raw_headers = list(page.not_modified)
            return response
        return PageResponse(page)


def place(item: Published) -> str:
    """The reference under which pages list this item as another language of theirs."""
    return f"place {item.kind} {item.path}"


def told(item: Published) -> str:
    """The reference under which pages of other items name this one."""
    return f"told {item.url}"


def receipt_of(item_id: UUID) -> str:
    return f"receipt {item_id}"
