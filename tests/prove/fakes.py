"""Fronts that misbehave in one respect, to see each check find its hole."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SOUND_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=()",
    "Cache-Control": "private, no-store",
}


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    host: str
    """What the server calls itself."""


Reply = tuple[int, Mapping[str, str], str]
Answer = Callable[[Request], Reply]


def sound(request: Request) -> Reply:
    """Refuses foreign hosts and origins, answers everything else alike."""
    if request.headers.get("Host") != request.host:
        return 421, SOUND_HEADERS, ""
    origin = request.headers.get("Origin")
    foreign = origin not in (None, f"http://{request.host}") or request.headers.get("Sec-Fetch-Site", "none") != "none"
    if request.method not in ("GET", "HEAD", "OPTIONS") and foreign:
        return 403, SOUND_HEADERS, ""
    return 200, SOUND_HEADERS, "<p>page</p>"


@contextmanager
def front(answer: Answer) -> Iterator[str]:
    """A server on a free port of this machine; its base url."""

    class Handler(BaseHTTPRequestHandler):
        def handle_one(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            host = f"127.0.0.1:{self.server.server_address[1]}"
            status, headers, body = answer(Request(self.command, self.path, dict(self.headers), host))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_one  # noqa: N815 - the names that the base class looks for

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
