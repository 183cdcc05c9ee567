"""Feed, site map, robots.txt; search; privacy."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from services.site.reading.cache import ANY
from services.site.reading.desk import HTML, Desk
from services.site.reading.feeds import atom, robots, sitemap
from services.site.reading.indexer import Indexer
from services.site.reading.layout import language_of, private
from services.site.reading.search import MOST, SearchIndex

LONGEST_QUERY = 200


class OtherPages:
    """`indexes` are those that these readers may search."""

    def __init__(self, desk: Desk, indexes: Sequence[SearchIndex], indexer: Indexer) -> None:
        self._desk, self._indexes, self._indexer = desk, indexes, indexer

    async def feed(self, request: Request) -> Response:
        lang = request.path_params.get("lang")
        if lang is not None and not self._desk.catalog.count(lang=lang):
            return self._desk.layout.notice(language_of(request), 404)
        path = request.url.path
        body = atom(self._desk.catalog.newest(None, lang), self._desk.base_url, path, self._desk.catalog.updated(lang))
        return self._desk.keep(request, path, body, "application/atom+xml; charset=utf-8", {ANY})

    async def sitemap(self, request: Request) -> Response:
        body = sitemap(self._desk.catalog.newest(), self._desk.base_url)
        return self._desk.keep(request, "/sitemap.xml", body, "application/xml", {ANY})

    async def robots(self, request: Request) -> Response:
        body = robots(self._desk.base_url)
        return self._desk.keep(request, "/robots.txt", body, "text/plain; charset=utf-8", {ANY})

    async def privacy(self, request: Request) -> Response:
        words = language_of(request)
        switches = [("/privacy", "en", "English")] if words.lang == "de" else [("/de/privacy", "de", "Deutsch")]
        body = self._desk.layout.page("privacy.html", words, switches=switches)
        return self._desk.keep(request, request.url.path, body.encode(), HTML, {ANY})

    async def search(self, request: Request) -> Response:
        query = " ".join(request.query_params.get("q", "")[:LONGEST_QUERY].split())
        await self._indexer.settled()
        answers = [index.find(query) for index in self._indexes]
        n = sum(count for count, _ in answers)
        found = sorted((hit for _, some in answers for hit in some), key=lambda hit: hit.score, reverse=True)
        hits = [(item, hit.snippet) for hit in found[:MOST] if (item := self._desk.view.item(hit.item_id))]
        words = language_of(request)
        return private(
            self._desk.layout.page("search.html", words, q=query, n=n, hits=hits, total=len(self._desk.view))
        )
