"""How bytes are sent: by nginx from its copy where it stands in front, else from the open file, a piece at a time."""

import asyncio
import os
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from services.agent.downloads.domain import Opened, Registered
from services.agent.downloads.names import disposition, kind
from services.agent.downloads.ranges import Part, Unsatisfiable, Version, is_known, part_of

PIECE = 256 * 1024
INTERNAL = "/spool/"
"""Where nginx has the copies; nobody is led there but by our word."""


class Sent(Response):
    """The file, or the part of it that was asked for. What was open when it began is sent to the end, whatever becomes of the name meanwhile."""

    def __init__(self, found: Registered, opened: Opened) -> None:
        self._found, self._opened = found, opened
        self.background, self.body, self.status_code = None, b"", 200

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._send(scope, send)
        finally:
            close(self._opened)

    async def _send(self, scope: Scope, send: Send) -> None:
        version = Version(self._opened.size, self._opened.changed, self._opened.inode)
        asked, part, status, size = Headers(scope=scope), None, 200, version.size
        headers = facts_of(self._found) | {"ETag": version.tag, "Last-Modified": version.date, "Accept-Ranges": "bytes"}
        try:
            part = part_of(asked, version)
        except Unsatisfiable:
            status, size, headers["Content-Range"] = 416, 0, f"bytes */{version.size}"
        if is_known(asked, version):
            status, size = 304, 0
        elif part is not None:
            status, size, headers["Content-Range"] = 206, part.length, f"bytes {part.first}-{part.last}/{version.size}"
        if status != 304:
            headers["Content-Length"] = str(size)
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        if scope["method"] != "HEAD" and status in (200, 206):
            await self._pieces(send, part or Part(0, version.size - 1))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pieces(self, send: Send, part: Part) -> None:
        """Never more than one piece in memory. A file that shrinks meanwhile ends the connection: who counts sees that it is not whole."""
        at = part.first
        while at <= part.last:
            piece = await asyncio.to_thread(os.pread, self._opened.descriptor, min(PIECE, part.last + 1 - at), at)
            if not piece:
                return
            at += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})


def handed_over(found: Registered) -> Response:
    """nginx sends its copy, with ranges and all."""
    return Response(headers=facts_of(found) | {"X-Accel-Redirect": f"{INTERNAL}{found.download_id}"})


def facts_of(found: Registered) -> dict[str, str]:
    return {
        "Content-Type": kind(found.name),
        "Content-Disposition": disposition(found.name),
        "Cache-Control": "private, no-store",
    }


def close(opened: Opened) -> None:
    with suppress(OSError):
        os.close(opened.descriptor)
