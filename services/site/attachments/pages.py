"""Attachments of published items. Pictures are shown; everything else is downloaded, and nothing of it runs (S13)."""

from urllib.parse import quote
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from schemas.content import Attachment
from services.site.attachments.bytes import FileBytes
from services.site.attachments.index import FileIndex
from services.site.reading.cache import PRIVATE
from services.site.reading.layout import Layout, language_of
from shared.attachments import TEXTS, is_picture

POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"
_PLAIN = str.maketrans({'"': "_", "\\": "_"})


class AttachmentPages:
    """Of one edition. `caching`: what its pages say; who brings a session's cookie gets what no cache may keep."""

    def __init__(self, index: FileIndex, files: FileBytes, layout: Layout, caching: bytes, unshared: str) -> None:
        self._index, self._files, self._layout = index, files, layout
        self._caching, self._unshared = caching, unshared

    def routes(self) -> list[Route]:
        return [Route("/a/{hash}/{name}", self.file)]

    async def file(self, request: Request) -> Response:
        return await self.of(request, PRIVATE if request.scope.get(self._unshared) else self._caching)

    async def of(self, request: Request, caching: bytes, item_id: UUID | None = None) -> Response:
        """The bytes, as long as a published item names them under this name. `item_id`: this one must."""
        hash_, name = request.path_params["hash"], request.path_params["name"]
        named = self._index.find(hash_, name, item_id)
        raw = await self._files.read(hash_) if named else None
        # while the bytes were read the item may have been taken down
        if raw is None or named is None or self._index.find(hash_, name, item_id) is None:
            status = 410 if item_id is None and self._index.is_gone(hash_) else 404
            return self._layout.notice(language_of(request), status)
        tag = f'"{hash_[:32]}"'
        headers = headers_of(named) | {"Cache-Control": caching.decode(), "ETag": tag, "Vary": "Cookie"}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(raw, headers=headers)


def headers_of(attachment: Attachment) -> dict[str, str]:
    """Its type as the signed content says it, and that nothing of it runs."""
    kind = attachment.media_type
    text = "; charset=utf-8" if kind in TEXTS.values() else ""
    plain = attachment.name.encode("ascii", "replace").decode().replace("?", "_").translate(_PLAIN)
    shown = "inline" if is_picture(attachment) else "attachment"
    said = f"{shown}; filename=\"{plain}\"; filename*=UTF-8''{quote(attachment.name, safe='')}"
    return {"Content-Type": kind + text, "Content-Disposition": said, "Content-Security-Policy": POLICY}
