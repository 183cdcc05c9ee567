"""Who is answered with what: nobody, the public's edition, or the members' (rule 27, S7)."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from services.site.entrance.porch import CARRIED, FROM_HERE, Porch
from services.site.publication.books import Books
from services.site.publication.door import Verdict
from services.site.reading.cache import PageCache
from services.site.reading.desk import UNSHARED, PageResponse
from services.site.reading.front import App, Receive, Scope, Send
from services.site.reading.layout import Layout, language_of
from services.site.signals.pages import INGEST
from shared.errors import SchleuseError
from shared.identity import is_fresh
from shared.identity.doors import SignInDoor, is_page


def is_always(path: str) -> bool:
    """What answers whatever the door says: style sheets, and the operator's own door. Nothing else below them does."""
    return path == INGEST or (path.startswith("/static/") and path.count("/") == 2)


@dataclass(frozen=True)
class Rooms:
    """The applications behind the doorstep; `cache` holds finished pages of the members' edition.

    `always` and `porch` answer those too who may not see what there is: their pages name none of it.
    """

    public: App
    members: App
    porch: App
    always: App
    cache: PageCache


class Doorstep:
    """ASGI. 503 until the gate has been heard, 403 while the site is shut: for everybody, whatever they ask.

    Whoever has signed in is sent to the members' edition. A cookie that is not good (any more) opens nothing, and keeps its
    bearer away from what caches share.
    """

    def __init__(self, rooms: Rooms, books: Books, door: SignInDoor, porch: Porch, bare: Layout) -> None:
        self._rooms, self._books, self._door, self._porch, self._bare = rooms, books, door, porch, bare
        gone = Response()
        door.forget(gone)
        self._forget = [pair for pair in gone.raw_headers if pair[0] == b"set-cookie"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_always(scope["path"]):
            await self._rooms.always(scope, receive, send)
            return
        verdict = self._books.door.answer(self._books.log).verdict
        request = Request(scope, receive)
        if verdict in ("waiting", "shut"):
            answer: App = self._bare.notice(language_of(request), 403 if verdict == "shut" else 503)
        else:
            try:
                answer = await self._room(request, verdict)
            except SchleuseError as error:
                answer = self._bare.notice(language_of(request), error.status)
        await answer(scope, receive, send)

    async def _room(self, request: Request, verdict: Verdict) -> App:
        path = request.scope["path"]
        if self._porch.has(path):
            return self._rooms.porch
        brought = self._door.surface.cookie in request.cookies
        found = await self._door.found(request) if brought else None
        if found is not None and is_fresh(found):
            return self._kept(request) or self._rooms.members
        if (brought or verdict == "members") and request.method == "POST" and path in CARRIED:
            return await self._porch.carried(request)
        if is_page(request) and (found is not None or request.scope["query_string"] == FROM_HERE.encode()):
            return self._door.renewal(request)
        answer = self._porch.closed(request) if verdict == "members" else self._rooms.public
        if brought:
            request.scope[UNSHARED] = True
        return self._forgetting(answer) if brought and found is None else answer

    def _kept(self, request: Request) -> Response | None:
        """A finished page of the members' edition."""
        if request.method not in ("GET", "HEAD") or request.scope["query_string"]:
            return None
        page = self._rooms.cache.pages.get(request.scope["path"])
        return PageResponse(page) if page is not None else None

    def _forgetting(self, app: App) -> App:
        """Takes the cookie of a session back that is over."""

        async def answering(scope: Scope, receive: Receive, send: Send) -> None:
            async def sending(message: Scope) -> None:
                if message["type"] == "http.response.start":
                    message["headers"] = [*message.get("headers", ()), *self._forget]
                await send(message)

            await app(scope, receive, sending)

        return answering
