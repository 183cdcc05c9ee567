"""`/api/v1/export` and `/api/v1/forget`: one's own, for programs and for the page."""

from collections.abc import Sequence

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from services.agent.belongings.domain import Holding
from services.agent.belongings.usecases.export_all import export_all
from services.agent.belongings.usecases.forget_all import forget_all
from services.agent.chat.api import Api
from services.agent.chat.api_bodies import Body
from services.agent.owners.domain import Me
from shared.clock import now
from shared.errors import Refused, Unauthorized
from shared.identity.doors import PRIVATE

SENTENCE = "delete everything"
"""What must be said, so that nothing is deleted by a slip."""


class Forget(Body):
    confirm: str


class Forgotten(BaseModel):
    """How many things of each part."""

    deleted: dict[str, int]


def add_belongings(app: FastAPI, api: Api, holdings: Sequence[Holding]) -> None:
    @app.get("/v1/export", summary="Everything that is kept of me, as a ZIP", response_class=StreamingResponse)
    async def export(request: Request) -> StreamingResponse:
        me, at = person(await api.who(request, None)), now()
        headers = {**PRIVATE, "Content-Disposition": f'attachment; filename="agent-{at:%Y-%m-%d}.zip"'}
        return StreamingResponse(export_all(holdings, me.owner, at), media_type="application/zip", headers=headers)

    @app.post("/v1/forget", summary=f"Delete it for good; `confirm` says: {SENTENCE}")
    async def forget(request: Request, said: Forget) -> Forgotten:
        me = person(await api.who(request, request.headers.get("x-form-token", "")))
        confirmed(said.confirm)
        return Forgotten(deleted=await forget_all(holdings, me.owner))


def person(me: Me) -> Me:
    """Unauthorized for a guest."""
    if me.is_guest:
        raise Unauthorized("Nothing of a guest is kept, so there is nothing to fetch or delete. Sign in for your own.")
    return me


def confirmed(said: str) -> None:
    if said.strip().lower() != SENTENCE:
        raise Refused(f"Nothing was deleted. To delete everything, say so: {SENTENCE}", code="confirm")
