"""Makes the two editions of the site from one shelf: their lists, pages, memory and search, and what keeps them true."""

from collections.abc import Sequence
from uuid import UUID

from starlette.routing import Route

from schemas.model import Audience
from services.site.attachments.bytes import FileBytes
from services.site.attachments.index import FileIndex
from services.site.attachments.pages import AttachmentPages
from services.site.comments.showing import CommentShelf
from services.site.publication.books import Books
from services.site.publication.shelf import View
from services.site.reading.cache import PRIVATE, PageCache
from services.site.reading.catalog import Brief, Catalog
from services.site.reading.desk import UNSHARED, Desk
from services.site.reading.edition import Edition
from services.site.reading.freshness import Freshness
from services.site.reading.indexer import Indexer
from services.site.reading.item_pages import ItemPages
from services.site.reading.layout import Layout
from services.site.reading.link_pages import LinkPages
from services.site.reading.list_pages import ListPages
from services.site.reading.other_pages import OtherPages
from services.site.reading.pages import Pages
from services.site.reading.rendering import Renderer
from services.site.reading.search import SearchIndex
from services.site.signals.domain import FormTokens
from services.site.signals.tallies import Tallies
from shared.clock import now
from shared.db import Database


class Press:
    """`indexer` is a part of the service. A catalog must hear of a change before its cache, and the cache before the index."""

    def __init__(self, db: Database, books: Books, tallies: Tallies, tokens: FormTokens, base_url: str) -> None:
        self._books, self._tallies, self._tokens, self._base_url = books, tallies, tokens, base_url
        self._briefs: dict[UUID, Brief] = {}
        self.renderer, self._comments = Renderer(db, books), CommentShelf(db, books)
        self.public = self._edition(books.shelf.public, is_public=True)
        self.members = self._edition(books.shelf.members, is_public=False)
        self._editions = (self.public, self.members)
        self._files, self._linked = FileBytes(db, books), FileIndex(books.shelf.linked)
        self._freshness = [Freshness(each, tallies) for each in self._editions]
        self._indexes: dict[Audience, SearchIndex] = {"public": SearchIndex(), "members": SearchIndex()}
        caches = [each.cache for each in self._editions]
        self.indexer = Indexer(books.shelf.members, self.renderer, self._indexes, self._briefs, caches)

    def _edition(self, view: View, *, is_public: bool) -> Edition:
        catalog = Catalog(view, self._briefs)
        layout = Layout(catalog, None if is_public else lambda: self._tokens.leaving(now().date()))
        return Edition(view, catalog, PageCache(), layout, is_public)

    def routes(self, edition: Edition) -> list[Route]:
        """The reading pages of an edition."""
        desk = Desk(self._books, edition, self.renderer, self._base_url)
        searched: Sequence[SearchIndex] = [self._indexes[each] for each in sorted(edition.view.sees)]
        others = OtherPages(desk, searched, self.indexer)
        items = ItemPages(desk, self._tallies, self._tokens, self._comments)
        files = AttachmentPages(FileIndex(edition.view), self._files, edition.layout, edition.caching, UNSHARED)
        return [*self._shared(edition).routes(), *files.routes(), *Pages(desk, items, ListPages(desk), others).routes()]

    def _shared(self, edition: Edition) -> LinkPages:
        """What share links open, in the frame of the edition of whoever holds one; in none of its lists."""
        shelf = self._books.shelf
        apart = Edition(shelf.linked, edition.catalog, PageCache(), edition.layout, is_public=False)
        desk = Desk(self._books, apart, self.renderer, self._base_url)
        items = ItemPages(desk, self._tallies, self._tokens, self._comments, edition.view)
        files = AttachmentPages(self._linked, self._files, edition.layout, PRIVATE, UNSHARED)
        return LinkPages(shelf, items, edition.layout, files)

    def most_read(self, items: list[UUID]) -> None:
        for edition in self._editions:
            edition.catalog.most_read = items

    def read_together(self, found: dict[UUID, tuple[UUID, ...]]) -> None:
        """Pages whose readers went on to others than before are made anew."""
        for edition in self._editions:
            before, edition.catalog.read_together = edition.catalog.read_together, found
            for item_id in before.keys() | found.keys():
                item = edition.view.item(item_id) if before.get(item_id) != found.get(item_id) else None
                if item is not None:
                    edition.cache.drop(item.url)

    def tick(self) -> None:
        """Once a second: new counts, and at midnight new form tokens."""
        self._tallies.tick()
        for each in self._freshness:
            each.tick()
