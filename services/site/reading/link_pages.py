"""What is reached by a share link (rule 29). No cache keeps it, nothing leads to it, and a wrong token is like any other wrong address."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.site.attachments.pages import AttachmentPages
from services.site.publication.domain import Published
from services.site.publication.shelf import Shelf
from services.site.reading.cache import PRIVATE
from services.site.reading.item_pages import ItemPages
from services.site.reading.layout import Layout, language_of
from shared.clock import now

NO_INDEX = {"X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer"}


class LinkPages:
    def __init__(self, shelf: Shelf, items: ItemPages, layout: Layout, files: AttachmentPages) -> None:
        self._shelf, self._items, self._layout, self._files = shelf, items, layout, files

    def routes(self) -> list[Route]:
        return [Route("/l/{token}", self.shared), Route("/l/{token}/a/{hash}/{name}", self.file)]

    async def shared(self, request: Request) -> Response:
        """The item, as long as the link is open and the item is published for links."""
        token, item = request.path_params["token"], self._opened(request)
        if item is None:
            return self._layout.notice(language_of(request), 404)
        response = await self._items.item(request, item, token)
        response.headers.update(NO_INDEX)
        return response

    async def file(self, request: Request) -> Response:
        """An attachment of the item, for whoever holds the link."""
        item = self._opened(request)
        if item is None:
            return self._layout.notice(language_of(request), 404)
        response = await self._files.of(request, PRIVATE, item.item_id)
        response.headers.update(NO_INDEX)
        return response

    def _opened(self, request: Request) -> Published | None:
        link = self._shelf.links.find(request.path_params["token"], now())
        return self._shelf.linked.item(link.item_id) if link else None
