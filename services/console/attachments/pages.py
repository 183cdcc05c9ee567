"""One attachment of a revision, for whoever may read the queue: downloaded, or shown where nothing of it runs."""

from urllib.parse import quote

from starlette.responses import Response
from starlette.routing import Route

from schemas.content import ItemContent
from services.console.attachments import store
from services.console.desk import Desk, Visit
from services.console.forms import as_uuid
from services.console.queue import views
from shared.attachments import TEXTS, is_picture
from shared.errors import NotFound

POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"


class AttachmentPages:
    """Bytes as the lock sent them, under the name and type that the content gives them."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        return [Route("/queue/{item_id}/files/{revision:int}/{hash}", self._desk.page(self.file))]

    async def file(self, visit: Visit) -> Response:
        asked = visit.request.path_params
        item_id = as_uuid(asked["item_id"])
        async with self._console.db.reading() as tx:
            revision = await views.revision(tx, item_id, min(asked["revision"], 2**31 - 1))
            content = ItemContent.from_bytes(revision["content"]) if revision else None
            named = (
                next((each for each in content.attachments if each.hash == asked["hash"]), None) if content else None
            )
            raw = await store.read(tx, item_id, named.hash) if named else None
        if named is None or raw is None:
            raise NotFound("There is no such attachment, or it has not come from the lock yet.")
        shown = "inline" if is_picture(named) else "attachment"
        text = "; charset=utf-8" if named.media_type in TEXTS.values() else ""
        headers = {
            "Content-Type": named.media_type + text,
            "Content-Disposition": f"{shown}; filename*=UTF-8''{quote(named.name, safe='')}",
            "Content-Security-Policy": POLICY,
            "Cache-Control": "private, no-store",
        }
        return Response(raw, headers=headers)
