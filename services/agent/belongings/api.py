"""`/api/v1/export` and `/api/v1/forget`: one's own, for programs and for the page."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from services.agent.belongings.domain import Holding
from services.agent.belongings.usecases.export_all import export_all
from services.agent.belongings.usecases.forget_all import forget_all
from services.agent.owners.domain import Me
from shared.clock import now
from shared.errors import Refused, Unauthorized
from shared.identity.doors import PRIVATE

SENTENCE = "delete everything"
"""What must be said, so that nothing is deleted by a slip."""
Who = Callable[[Request, str | None], Awaitable[Me]]
"""Who asks; with a form token, for what changes something. Unauthorized, Forbidden."""


class BelongingsApi:
    def __init__(self, holdings: Sequence[Holding], who: Who) -> None:
        self._holdings, self._who = holdings, who

    def routes(self) -> list[Route]:
        return [
            Route("/api/v1/export", self.export, methods=["GET"]),
            Route("/api/v1/forget", self.forget, methods=["POST"]),
        ]

    async def export(self, request: Request) -> Response:
        """A ZIP, as it is packed."""
        me = person(await self._who(request, None))
        at = now()
        headers = {**PRIVATE, "Content-Disposition": f'attachment; filename="agent-{at:%Y-%m-%d}.zip"'}
        return StreamingResponse(
            export_all(self._holdings, me.owner, at), media_type="application/zip", headers=headers
        )

    async def forget(self, request: Request) -> Response:
        """{"confirm": "delete everything"} -> {"deleted": {holding: how many}}."""
        me = person(await self._who(request, request.headers.get("x-form-token", "")))
        confirmed(await _said(request))
        return JSONResponse({"deleted": await forget_all(self._holdings, me.owner)}, headers=PRIVATE)


def person(me: Me) -> Me:
    """Unauthorized for a guest."""
    if me.is_guest:
        raise Unauthorized("Nothing of a guest is kept, so there is nothing to fetch or delete. Sign in for your own.")
    return me


def confirmed(said: str) -> None:
    if said.strip().lower() != SENTENCE:
        raise Refused(f"Nothing was deleted. To delete everything, say so: {SENTENCE}", code="confirm")


async def _said(request: Request) -> str:
    try:
        body: Any = await request.json()
    except ValueError:
        raise Refused('Send {"confirm": "' + SENTENCE + '"} as JSON.', code="body") from None
    return str(body.get("confirm", "")) if isinstance(body, dict) else ""
