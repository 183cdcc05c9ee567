"""The public pages. All are made from the shelf; what is finished is kept in the page cache."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, time
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from schemas.site.v1 import REACTIONS
from services.site.publication.books import Books
from services.site.publication.domain import BadReceipt, Published
from services.site.reading.cache import ANY, Page, PageCache, make_page
from services.site.reading.catalog import Catalog
from services.site.reading.feeds import atom, robots, sitemap
from services.site.reading.front import is_known
from services.site.reading.indexer import Indexer
from services.site.reading.layout import Layout, language_of, moved, private
from services.site.reading.receipt import receipt_json, receipt_parts
from services.site.reading.rendering import Renderer, href
from services.site.reading.search import SearchIndex
from services.site.reading.words import KINDS, Words, language_name, words_for
from services.site.signals.domain import FormTokens
from services.site.signals.tallies import Tallies
from shared.clock import now
from shared.errors import NotFound

HTML = "text/html; charset=utf-8"
PER_PAGE = 200
PER_SECTION = 5
LONGEST_QUERY = 200
Endpoint = Callable[[Request], Awaitable[Response]]


class PageResponse(Response):
    """A finished page with its own headers."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.body = page.body
        self.raw_headers = list(page.headers)


class Pages:
    def __init__(
        self,
        books: Books,
        catalog: Catalog,
        cache: PageCache,
        layout: Layout,
        renderer: Renderer,
        index: SearchIndex,
        indexer: Indexer,
        tallies: Tallies,
        tokens: FormTokens,
        base_url: str,
    ) -> None:
        self._books, self._shelf, self._catalog, self._cache = books, books.shelf, catalog, cache
        self._layout, self._renderer, self._index, self._indexer = layout, renderer, index, indexer
        self._tallies, self._tokens, self._base_url = tallies, tokens, base_url

    def routes(self) -> list[Route]:
        return [
            Route("/static/{name}", self._layout.static.endpoint),
            Route("/feed.xml", self.feed),
            Route("/{lang}/feed.xml", self.feed),
            Route("/sitemap.xml", self.sitemap),
            Route("/robots.txt", self.robots),
            Route("/search", self.search),
            Route("/privacy", self.privacy),
            Route("/de/privacy", self.privacy),
            Route("/receipt/{item_id:uuid}", self.receipt),
            Route("/receipt/{item_id:uuid}.json", self.receipt_file),
            Route("/{path:path}", self.any),
        ]

    async def any(self, request: Request) -> Response:
        """Whatever is at this address: an item, a list, the one address it has now, or nothing."""
        path = request.url.path if "%" not in request.url.path else request.scope["path"]
        item = self._shelf.at(path)
        if item is not None:
            return await self._item(request, item)
        listed = self._list(request, path)
        if listed is not None:
            return listed
        for other in _variants(path):
            if self._shelf.at(other) or self._is_list(other):
                return moved(href(other))
        return self._layout.notice(language_of(request), 410 if self._shelf.is_gone(path) else 404)

    # items

    async def _item(self, request: Request, item: Published) -> Response:
        try:
            text = await self._renderer.text(item)
        except (NotFound, BadReceipt):
            self._books.hide(item.item_id)
            return self._layout.notice(language_of(request), 404)
        if self._shelf.at(item.url) is not item:
            return await self.any(request)
        html, refs = self._renderer.linked(text)
        day = now().date()
        body = self._layout.page(
            "item.html",
            words_for(item.lang),
            lang=item.lang,
            kind=item.kind,
            nav_lang=item.lang,
            item=item,
            html=html,
            toc=[each for each in text.rendered.toc if each[0] <= 3],
            minutes=text.minutes,
            alternates=self._catalog.alternates(item),
            switches=[(href(each.url), each.lang, language_name(each.lang)) for each in self._catalog.alternates(item)],
            tally=self._tallies.of(item.item_id),
            token=self._tokens.make(item.item_id, day),
            reactions=REACTIONS,
            base_url=self._base_url,
            feed=f"/{item.lang}/feed.xml",
        )
        modified = max(item.published_at, datetime.combine(day, time(), UTC))
        return self._keep(request, item.url, body.encode(), HTML, modified, {*refs, place(item)})

    async def receipt(self, request: Request) -> Response:
        item = self._receipted(request)
        if item is None:
            return self._layout.notice(language_of(request), 404)
        row = await self._renderer.row(item.item_id)
        words = words_for(item.lang)
        body = self._layout.page("receipt.html", words, item=item, parts=receipt_parts(row, words))
        return self._keep(request, request.url.path, body.encode(), HTML, item.published_at, {receipt_of(item.item_id)})

    async def receipt_file(self, request: Request) -> Response:
        item = self._receipted(request)
        if item is None:
            return self._layout.notice(language_of(request), 404)
        row = await self._renderer.row(item.item_id)
        body = receipt_json(item, row, self._books.keys)
        return self._keep(
            request, request.url.path, body, "application/json", item.published_at, {receipt_of(item.item_id)}
        )

    def _receipted(self, request: Request) -> Published | None:
        item_id: UUID = request.path_params["item_id"]
        return self._shelf.public(item_id)

    # lists

    def _is_list(self, path: str) -> bool:
        parts = path.split("/")
        match parts[1:]:
            case [""]:
                return True
            case [kind, ""] if kind in KINDS:
                return self._catalog.count(kind) > 0
            case [lang, ""]:
                return self._catalog.count(lang=lang) > 0
            case [kind, lang, ""] if kind in KINDS:
                return self._catalog.count(kind, lang) > 0
        return False

    def _list(self, request: Request, path: str) -> Response | None:
        if not self._is_list(path):
            return None
        match path.split("/")[1:]:
            case [""]:
                return self._front_page(request, path, None)
            case [kind, ""] if kind in KINDS:
                return self._section(request, path, kind, None)
            case [kind, lang, ""]:
                return self._section(request, path, kind, lang)
            case [lang, ""]:
                return self._front_page(request, path, lang)
        return None

    def _front_page(self, request: Request, path: str, only: str | None) -> Response:
        words = words_for(only or "en")
        catalog = self._catalog
        sections = [
            (kind, catalog.count(kind, only), catalog.newest(kind, only)[:PER_SECTION]) for kind in catalog.kinds(only)
        ]
        body = self._layout.page(
            "index.html",
            words,
            lang=only or "en",
            nav_lang=only,
            sections=sections,
            total=catalog.count(lang=only),
            only=only,
            popular=catalog.popular(only),
            languages=self._languages(None),
            switches=_switches(catalog, only),
            feed=f"/{only}/feed.xml" if only else None,
        )
        return self._keep(request, path, body.encode(), HTML, self._updated(only), {ANY})

    def _section(self, request: Request, path: str, kind: str, only: str | None) -> Response:
        words = words_for(only or "en")
        items = self._catalog.section(kind, only)
        pages = max(1, -(-len(items) // PER_PAGE))
        number = _number(request.query_params.get("page", "1"))
        if not 1 <= number <= pages:
            return self._layout.notice(language_of(request), 404)
        body = self._layout.page(
            "section.html",
            words,
            lang=only or "en",
            kind=kind,
            nav_lang=only,
            only=only,
            path=path,
            heading=words[kind],
            total=len(items),
            items=items[(number - 1) * PER_PAGE : number * PER_PAGE],
            number=number,
            pages=pages,
            languages=self._languages(kind),
            feed=f"/{only}/feed.xml" if only else None,
        )
        return self._keep(request, path, body.encode(), HTML, self._updated(only), {ANY})

    def _languages(self, kind: str | None) -> list[tuple[str, str, str]]:
        """(tag, name, "71 pages") of each language, in its own words."""
        return [
            (lang, language_name(lang), words_for(lang).count(self._catalog.count(kind, lang)))
            for lang in self._catalog.languages(kind)
        ]

    def _updated(self, lang: str | None = None) -> datetime:
        newest = self._catalog.newest(None, lang)
        return newest[0].published_at if newest else now()

    # for programs, and the rest

    async def feed(self, request: Request) -> Response:
        lang = request.path_params.get("lang")
        if lang is not None and not self._catalog.count(lang=lang):
            return self._layout.notice(language_of(request), 404)
        path = request.url.path
        body = atom(self._catalog.newest(None, lang), self._base_url, path, self._updated(lang))
        return self._keep(request, path, body, "application/atom+xml; charset=utf-8", self._updated(lang), {ANY})

    async def sitemap(self, request: Request) -> Response:
        body = sitemap(self._catalog.newest(), self._base_url)
        return self._keep(request, "/sitemap.xml", body, "application/xml", self._updated(), {ANY})

    async def robots(self, request: Request) -> Response:
        body = robots(self._base_url)
        return self._keep(request, "/robots.txt", body, "text/plain; charset=utf-8", self._updated(), {ANY})

    async def privacy(self, request: Request) -> Response:
        words = language_of(request)
        switches = [("/privacy", "en", "English")] if words.lang == "de" else [("/de/privacy", "de", "Deutsch")]
        body = self._layout.page("privacy.html", words, switches=switches)
        return self._keep(request, request.url.path, body.encode(), HTML, self._updated(), {ANY})

    async def search(self, request: Request) -> Response:
        query = " ".join(request.query_params.get("q", "")[:LONGEST_QUERY].split())
        await self._indexer.settled()
        n, found = self._index.find(query)
        hits = [(item, hit.snippet) for hit in found if (item := self._shelf.public(hit.item_id))]
        words = language_of(request)
        return private(self._layout.page("search.html", words, q=query, n=n, hits=hits, total=len(self._shelf)))

    def _keep(
        self, request: Request, path: str, body: bytes, media_type: str, modified: datetime, refs: set[str]
    ) -> Response:
        """Answer with a finished page, and keep it for the next visitor (not those of a query)."""
        page = make_page(body, media_type, modified, refs)
        if not request.url.query:
            self._cache.keep(path, page)
        headers = {
            name: value for name, value in request.scope["headers"] if name in (b"if-none-match", b"if-modified-since")
        }
        if headers and is_known(page, headers.get(b"if-none-match"), headers.get(b"if-modified-since")):
            response = Response(status_code=304)
            response.raw_headers = list(page.not_modified)
            return response
        return PageResponse(page)


def place(item: Published) -> str:
    """The reference under which pages list this item as another language of theirs."""
    return f"place {item.kind} {item.path}"


def receipt_of(item_id: UUID) -> str:
    return f"receipt {item_id}"


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


def _variants(path: str) -> list[str]:
    """Other spellings of an address that lead to its one spelling."""
    bare = path.rstrip("/")
    for ending in (".md", ".html"):
        bare = bare.removesuffix(ending)
    return [bare, f"{bare}/index", f"{bare}/"]


def _switches(catalog: Catalog, only: str | None) -> list[tuple[str, str, str]]:
    """The other language of our own words, when there is something in it."""
    other = "en" if only == "de" else "de"
    return [(f"/{other}/", other, language_name(other))] if catalog.count(lang=other) else []


__all__ = ["PageResponse", "Pages", "Words", "place", "receipt_of"]
