"""Pages that an app's code makes, shown inside the console's frame: foreign HTML in a sandbox of its own, without scripts, forms or a cookie (S4, S13)."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from services.console.apps.domain import InstalledApp
from services.console.apps.process import clean
from services.console.apps.views import get_app
from services.console.desk import Desk, Visit, go
from services.console.people.store import session
from services.console.queue.preview import HEADERS
from services.console.rendering import Templates
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused, Transient

LIFE = timedelta(hours=1)
"""For which links inside a frame go on working without the page around it being loaded anew."""
MOST_QUERY = 40
PLACES = {"report": "reports", "application": "applications", "artifact": "applications"}


@dataclass(frozen=True)
class Pass:
    """Who may look at which app's pages: a sandboxed frame sends no cookie, so its address says it."""

    slug: str
    session: str
    until: float
    lang: str


class FramePages:
    def __init__(self, desk: Desk, templates: Templates) -> None:
        self._desk, self._templates, self._console = desk, templates, desk.console

    def routes(self) -> list[Route]:
        page = self._desk.page
        framed = [
            Route(f"/{place}/{{slug}}{rest}", page(self.show))
            for place in dict.fromkeys(PLACES.values())
            for rest in ("/", "/-/{path:path}")
        ]
        bare = [Route(f"/{place}/{{slug}}", page(self.to_front)) for place in dict.fromkeys(PLACES.values())]
        return [*framed, *bare, Route("/frames/{token}/{path:path}", self._desk.open_page(self.frame))]

    async def to_front(self, visit: Visit) -> Response:
        return go(f"{visit.request.url.path}/")

    async def show(self, visit: Visit) -> Response:
        """The console's page around it. An app without pages has its tables to show."""
        request = visit.request
        async with self._console.db.reading() as tx:
            app = await get_app(tx, str(request.path_params["slug"]))
        place = PLACES[app.declaration.kind]
        if request.url.path.split("/")[1] != place:
            return go(f"/{place}/{app.slug}/")
        if not app.pages:
            return go(f"/apps/{app.slug}")
        made = self._sign(
            Pass(app.slug, visit.session.token_hash, (now() + LIFE).timestamp(), visit.session.language or "en")
        )
        path = str(request.path_params.get("path", ""))
        source = f"/frames/{made}/{path}" + (f"?{urlencode(_query(request))}" if request.query_params else "")
        return await visit.show("app_frame.html", app=app, source=source)

    async def frame(self, request: Request) -> Response:
        """What is inside. Whatever goes wrong is told in the frame, too."""
        passed = self._read(str(request.path_params["token"]))
        status, html, title = 200, Markup(""), ""
        try:
            app = await self._app(passed)
            title = app.declaration.title
            found = await self._console.apps.processes.page(
                app, str(request.path_params["path"]), _query(request), passed.lang
            )
            if found.get("status") == 404:
                raise NotFound("The app has no such page.")
            html = Markup(clean(found.get("html")))  # noqa: S704 - foreign, and shown in a sandbox for that reason
        except (Refused, NotFound, Conflict, Transient) as error:
            status = error.status
            html = Markup('<p class="notice stop">{}</p>').format(error.message)
        page = self._templates.render("app_inside.html", {"title": title, "body": html, "app_lang": passed.lang})
        return HTMLResponse(page, status, headers=HEADERS)

    async def _app(self, passed: Pass) -> InstalledApp:
        """NotFound when the sign-in has ended: then there is nothing to see."""
        async with self._console.db.reading() as tx:
            if await session(tx, passed.session, now()) is None:
                raise NotFound("Your sign-in has ended; load the page around this one.")
            app = await get_app(tx, passed.slug)
        if app.state != "installed":
            raise Conflict(f"{app.slug} is {app.state}. {app.reason}", code="stopped")
        return app

    def _sign(self, passed: Pass) -> str:
        raw = json.dumps([passed.slug, passed.session, passed.until, passed.lang]).encode()
        return base64.urlsafe_b64encode(self._mac(raw) + raw).decode().rstrip("=")

    def _read(self, token: str) -> Pass:
        try:
            whole = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        except ValueError:
            raise NotFound("There is no page at this address.") from None
        mac, raw = whole[:32], whole[32:]
        if not hmac.compare_digest(mac, self._mac(raw)):
            raise NotFound("There is no page at this address.")
        found = Pass(*json.loads(raw))
        if found.until < now().timestamp():
            raise NotFound("This frame has ended; load the page around it.")
        return found

    def _mac(self, raw: bytes) -> bytes:
        return hmac.new(self._console.form_key, b"frame:" + raw, hashlib.sha256).digest()


def _query(request: Request) -> Mapping[str, str]:
    return dict(list(request.query_params.items())[:MOST_QUERY])
