"""Style sheets and pictures, held in memory with an ETag; each has an address with its hash, cached for ever."""

import hashlib
import mimetypes
from collections.abc import Iterable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

LOOK = Path(__file__).parent / "static"
"""tokens.css, base.css, logo.svg, sprite.svg: the same on all surfaces."""


class StaticFiles:
    """Serves the files of some folders under one prefix. `url("base.css")` is the address for templates."""

    def __init__(self, prefix: str, folders: Iterable[Path] = (LOOK,)) -> None:
        self._prefix = prefix.rstrip("/")
        self._files: dict[str, tuple[bytes, str, str]] = {}
        for folder in folders:
            for path in sorted(folder.iterdir()):
                if path.is_file():
                    body = path.read_bytes()
                    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
                    self._files[path.name] = (body, kind, hashlib.sha256(body).hexdigest()[:16])

    def url(self, name: str) -> str:
        return f"{self._prefix}/{name}?v={self._files[name][2]}"

    def text(self, name: str) -> str:
        """The file's text (a sprite that a template puts inline)."""
        return self._files[name][0].decode()

    async def endpoint(self, request: Request) -> Response:
        """Route it as `<prefix>/{name}`."""
        found = self._files.get(request.path_params["name"])
        if found is None:
            return Response("Not found", 404, media_type="text/plain")
        body, kind, digest = found
        exact = request.query_params.get("v") == digest
        caching = "public, max-age=31536000, immutable" if exact else "public, max-age=0, must-revalidate"
        headers = {"ETag": f'"{digest}"', "Cache-Control": caching}
        if request.headers.get("if-none-match") == f'"{digest}"':
            return Response(status_code=304, headers=headers)
        return Response(body, media_type=kind, headers=headers)
