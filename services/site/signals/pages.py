"""Where visitors' signals come in: a picture that counts views, three forms, and the operator's door for access logs."""

import base64
import hmac
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from schemas.site.v1 import REACTIONS, Signal, SignalKind
from schemas.text import BadJson, parse_json
from services.site.publication.domain import Published
from services.site.publication.shelf import View
from services.site.reading.layout import see
from services.site.reading.rendering import href
from services.site.signals.buffer import SignalBuffer
from services.site.signals.domain import MAX_FEEDBACK, MAX_PER_EVENT, PER_MINUTE, FormTokens
from services.site.signals.limits import RateLimit
from services.site.signals.usecases.ingest_views import ingest_views
from services.site.signals.visitors import Visitors
from shared.clock import now
from shared.db import Database
from shared.errors import Forbidden, NotFound, Refused, TooLarge, TooMany, Transient, Unauthorized
from shared.ids import fresh_id
from shared.telemetry import span
from shared.web.forms import read_body, read_form

GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_UNSEEN = {"Cache-Control": "private, no-store", "Content-Type": "image/gif"}
INGEST = "/signals/ingest"
MAX_INGEST = 8 * 1024 * 1024
MAX_LINES = 5000


class SignalDoor:
    """For one readership: what it cannot see, it cannot vote on, and nothing tells that from what does not exist."""

    def __init__(
        self,
        db: Database,
        buffer: SignalBuffer,
        visitors: Visitors,
        tokens: FormTokens,
        ingest_token: str,
        limit: RateLimit,
        view: View,
    ) -> None:
        self._db, self._view, self._buffer, self._limit = db, view, buffer, limit
        self._visitors, self._tokens = visitors, tokens
        self._ingest_token = ingest_token.encode()

    def routes(self) -> list[Route]:
        return [
            Route("/s/{item_id:uuid}.gif", self.view),
            Route("/signals/vote", self.vote, methods=["POST"]),
            Route("/signals/reaction", self.reaction, methods=["POST"]),
            Route("/signals/feedback", self.feedback, methods=["POST"]),
        ]

    def operators(self) -> Route:
        """The operator's own door."""
        return Route(INGEST, self.ingest, methods=["POST"])

    async def view(self, request: Request) -> Response:
        """Count a view of a published item. The picture is the same for every id, published or not."""
        item = self._view.item(request.path_params["item_id"])
        if item is None or request.method != "GET":
            return Response(GIF, headers=_UNSEEN)
        visitor = await self._visitor(request)
        wait = self._limit.wait(visitor)
        if wait:
            return Response(GIF, 429, {**_UNSEEN, "Retry-After": str(wait)})
        try:
            await self._buffer.add(_signal("view", item, visitor), item.audience)
        except Transient:
            return Response(GIF, 503, {**_UNSEEN, "Retry-After": "5"})
        return Response(GIF, headers=_UNSEEN)

    async def vote(self, request: Request) -> Response:
        form = await read_form(request)
        item = self._item(form)
        value = {"1": 1, "0": 0, "-1": -1}.get(form.get("value", ""))
        if value is None:
            raise Refused("a vote is 1, 0 or -1", code="bad_vote")
        await self._take(request, item, "vote", value=value)
        return see(href(item.url) + "#voted")

    async def reaction(self, request: Request) -> Response:
        form = await read_form(request)
        item = self._item(form)
        if form.get("reaction") not in REACTIONS:
            raise Refused(f"a reaction is one of {', '.join(REACTIONS)}", code="bad_reaction")
        await self._take(request, item, "reaction", reaction=form["reaction"])
        return see(href(item.url) + "#reacted")

    async def feedback(self, request: Request) -> Response:
        form = await read_form(request)
        item = self._item(form)
        text = form.get("text", "").replace("\r\n", "\n").strip()
        if not text:
            raise Refused("the message is empty", code="empty")
        if len(text) > MAX_FEEDBACK:
            raise TooLarge(f"the message has {len(text)} characters; at most {MAX_FEEDBACK} are taken")
        await self._take(request, item, "feedback", text=text)
        return see(href(item.url) + "#fed-back")

    def _item(self, form: Mapping[str, str]) -> Published:
        """The published item that a form is about. An id that is not published is like one that never was."""
        try:
            item = self._view.item(UUID(form.get("item_id", "")))
        except ValueError:
            item = None
        if item is None:
            raise NotFound("there is no such page")
        if not self._tokens.is_good(form.get("token", ""), item.item_id, now().date()):
            raise Forbidden(
                "this form is too old or not ours; open the page again and send it from there", code="token"
            )
        return item

    async def _take(self, request: Request, item: Published, kind: SignalKind, **values: Any) -> None:
        visitor = await self._visitor(request)
        wait = self._limit.wait(visitor)
        if wait:
            raise TooManySignals(wait)
        await self._buffer.add(_signal(kind, item, visitor, **values), item.audience)

    async def _visitor(self, request: Request) -> str:
        client = request.client.host if request.client else ""
        return await self._visitors.name(client, request.headers)

    async def ingest(self, request: Request) -> Response:
        """Page views of an access log, by the operator: {"accepted": n, "repeated": m}."""
        given = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        if not hmac.compare_digest(given, self._ingest_token):
            raise Unauthorized("the ingest token is wrong; it lies in keys/ingest.token of the state directory")
        lines, per_event = _batch(await read_body(request, MAX_INGEST))
        with span("signals"):
            async with self._db.transaction() as tx:
                accepted, repeated = await ingest_views(tx, self._view, lines, per_event)
        return JSONResponse(
            {"accepted": accepted, "repeated": repeated}, headers={"Cache-Control": "private, no-store"}
        )


class TooManySignals(TooMany):
    """More than 30 signals in the last minute (rule 25). `wait`: seconds until the next is taken."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"at most {PER_MINUTE} signals a minute are taken; wait {wait} seconds")
        self.wait = wait


def _signal(kind: SignalKind, item: Published, visitor: str, **values: Any) -> Signal:
    return Signal(
        signal_id=fresh_id(), kind=kind, item_id=item.item_id, path=item.url, visitor=visitor, at=now(), **values
    )


def _batch(raw: bytes) -> tuple[Sequence[Any], int]:
    try:
        asked = parse_json(raw)
        lines, per_event = asked["batch"], asked.get("per_event", MAX_PER_EVENT)
    except (BadJson, KeyError, TypeError, AttributeError):
        raise Refused('send {"batch": [...], "per_event": 1..100}', code="bad_batch") from None
    if not isinstance(lines, list) or len(lines) > MAX_LINES:
        raise TooLarge(f"a batch is a list of at most {MAX_LINES} lines")
    if not isinstance(per_event, int) or not 1 <= per_event <= MAX_PER_EVENT:
        raise Refused(f"per_event is 1 to {MAX_PER_EVENT}", code="bad_batch")
    return lines, per_event
