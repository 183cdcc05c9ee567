"""Where visitors' signals come in: a picture that counts views, three forms, and the operator's door for access logs."""

import base64
import hmac
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from schemas.site.v1 import REACTIONS, Signal, SignalKind
from schemas.text import BadJson, parse_json
from services.site.reading.layout import see
from services.site.signals.buffer import SignalBuffer
from services.site.signals.domain import MAX_FEEDBACK, MAX_PER_EVENT
from services.site.signals.reception import Reception, Subject
from services.site.signals.usecases.ingest_views import ingest_views
from shared.clock import now
from shared.db import Database
from shared.errors import Refused, TooLarge, Transient, Unauthorized
from shared.ids import fresh_id
from shared.telemetry import span
from shared.web.forms import read_body, read_form

GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_UNSEEN = {"Cache-Control": "private, no-store", "Content-Type": "image/gif"}
INGEST = "/signals/ingest"
MAX_INGEST = 8 * 1024 * 1024
MAX_LINES = 5000


class SignalDoor:
    """For one readership."""

    def __init__(self, db: Database, buffer: SignalBuffer, ingest_token: str, reception: Reception) -> None:
        self._db, self._buffer, self._reception = db, buffer, reception
        self._ingest_token = ingest_token.encode()

    def routes(self) -> list[Route]:
        return [
            Route("/s/{item_id:uuid}.gif", self.view),
            Route("/l/{token}.gif", self.shared_view),
            Route("/signals/vote", self.vote, methods=["POST"]),
            Route("/signals/reaction", self.reaction, methods=["POST"]),
            Route("/signals/feedback", self.feedback, methods=["POST"]),
        ]

    def operators(self) -> Route:
        """The operator's own door."""
        return Route(INGEST, self.ingest, methods=["POST"])

    async def view(self, request: Request) -> Response:
        """Count a view of a published item. The picture is the same for every id, published or not."""
        item = self._reception.view.item(request.path_params["item_id"])
        return await self._seen(request, Subject(item, item.url) if item else None)

    async def shared_view(self, request: Request) -> Response:
        """Count a view by a share link. The picture is the same for every token."""
        return await self._seen(request, self._reception.shared(request.path_params["token"]))

    async def _seen(self, request: Request, subject: Subject | None) -> Response:
        if subject is None or request.method != "GET":
            return Response(GIF, headers=_UNSEEN)
        visitor = await self._reception.visitor(request)
        wait = self._reception.wait(visitor)
        if wait:
            return Response(GIF, 429, {**_UNSEEN, "Retry-After": str(wait)})
        try:
            await self._buffer.add(_signal("view", subject, visitor), subject.item.audience)
        except Transient:
            return Response(GIF, 503, {**_UNSEEN, "Retry-After": "5"})
        return Response(GIF, headers=_UNSEEN)

    async def vote(self, request: Request) -> Response:
        form = await read_form(request)
        subject = self._reception.subject(form)
        value = {"1": 1, "0": 0, "-1": -1}.get(form.get("value", ""))
        if value is None:
            raise Refused("a vote is 1, 0 or -1", code="bad_vote")
        await self._take(request, subject, "vote", value=value)
        return see(subject.address + "#voted")

    async def reaction(self, request: Request) -> Response:
        form = await read_form(request)
        subject = self._reception.subject(form)
        if form.get("reaction") not in REACTIONS:
            raise Refused(f"a reaction is one of {', '.join(REACTIONS)}", code="bad_reaction")
        await self._take(request, subject, "reaction", reaction=form["reaction"])
        return see(subject.address + "#reacted")

    async def feedback(self, request: Request) -> Response:
        form = await read_form(request)
        subject = self._reception.subject(form)
        text = form.get("text", "").replace("\r\n", "\n").strip()
        if not text:
            raise Refused("the message is empty", code="empty")
        if len(text) > MAX_FEEDBACK:
            raise TooLarge(f"the message has {len(text)} characters; at most {MAX_FEEDBACK} are taken")
        await self._take(request, subject, "feedback", text=text)
        return see(subject.address + "#fed-back")

    async def _take(self, request: Request, subject: Subject, kind: SignalKind, **values: Any) -> None:
        visitor = await self._reception.admit(request)
        await self._buffer.add(_signal(kind, subject, visitor, **values), subject.item.audience)

    async def ingest(self, request: Request) -> Response:
        """Page views of an access log, by the operator: {"accepted": n, "repeated": m}."""
        given = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        if not hmac.compare_digest(given, self._ingest_token):
            raise Unauthorized("the ingest token is wrong; it lies in keys/ingest.token of the state directory")
        lines, per_event = _batch(await read_body(request, MAX_INGEST))
        with span("signals"):
            async with self._db.transaction() as tx:
                accepted, repeated = await ingest_views(tx, self._reception.view, lines, per_event)
        return JSONResponse(
            {"accepted": accepted, "repeated": repeated}, headers={"Cache-Control": "private, no-store"}
        )


def _signal(kind: SignalKind, subject: Subject, visitor: str, **values: Any) -> Signal:
    """`path` is the item's own address, whichever way the visitor came."""
    item, link = subject.item, subject.link
    return Signal(
        signal_id=fresh_id(),
        kind=kind,
        item_id=item.item_id,
        path=item.url,
        visitor=visitor,
        at=now(),
        link_id=link.link_id if link else None,
        **values,
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
