"""What is reached by a share link (rule 29). No cache keeps it, nothing leads to it, and a wrong token is like any other wrong address."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.site.publication.shelf import Shelf
from services.site.reading.item_pages import ItemPages
from services.site.reading.layout import Layout, language_of
from shared.clock import now

NO_INDEX = {"X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer"}


class LinkPages:
    def __init__(self, shelf: Shelf, items: ItemPages, layout: Layout) -> None:
        self._shelf, self._items, self._layout = shelf, items, layout

    def routes(self) -> list[Route]:
        return [Route("/l/{token}", self.shared)]

    async def shared(self, request: Request) -> Response:
        """The item, as long as the link is open and the item is published for links."""
        token = request.path_params["token"]
        link = self._shelf.links.find(token, now())
        item = self._shelf.linked.item(link.item_id) if link else None
        if item is None:
            return self._layout.notice(language_of(request), 404)
        response = await self._items.item(request, item, token)
        response.headers.update(NO_INDEX)
        return response
