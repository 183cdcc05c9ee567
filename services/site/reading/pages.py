"""All public addresses: what has a name of its own, and whatever else is published."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.site.reading.desk import Desk
from services.site.reading.item_pages import ItemPages
from services.site.reading.layout import language_of, moved
from services.site.reading.list_pages import ListPages
from services.site.reading.other_pages import OtherPages
from services.site.reading.rendering import href


class Pages:
    def __init__(self, desk: Desk, items: ItemPages, lists: ListPages, others: OtherPages) -> None:
        self._desk, self._items, self._lists, self._others = desk, items, lists, others

    def routes(self) -> list[Route]:
        items, others = self._items, self._others
        return [
            Route("/feed.xml", others.feed),
            Route("/{lang}/feed.xml", others.feed),
            Route("/sitemap.xml", others.sitemap),
            Route("/robots.txt", others.robots),
            Route("/search", others.search),
            Route("/privacy", others.privacy),
            Route("/de/privacy", others.privacy),
            Route("/receipt/{item_id:uuid}", items.receipt),
            Route("/receipt/{item_id:uuid}.json", items.receipt_file),
            Route("/{path:path}", self.any),
        ]

    async def any(self, request: Request) -> Response:
        """Whatever is at this address: an item, a list, the one address it has now, or nothing."""
        path: str = request.scope["path"]
        view = self._desk.view
        item = view.at(path)
        if item is not None:
            return await self._items.item(request, item)
        listed = self._lists.listed(request, path)
        if listed is not None:
            return listed
        for other in _variants(path):
            if view.at(other) or self._lists.is_list(other):
                return moved(href(other))
        return self._desk.layout.notice(language_of(request), 410 if view.is_gone(path) else 404)


def _variants(path: str) -> list[str]:
    """Other spellings of an address that lead to its one spelling."""
    bare = path.rstrip("/")
    for ending in (".md", ".html"):
        bare = bare.removesuffix(ending)
    return [bare, f"{bare}/index", f"{bare}/"]
