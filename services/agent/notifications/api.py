"""`/api/v1/notifications`: what one was told, for programs and for pages."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, Field

from services.agent.chat.api import Api
from services.agent.chat.api_bodies import Body
from services.agent.notifications.domain import KEPT_UNREAD
from services.agent.notifications.kept import MOST_LISTED, Notifications
from services.agent.notifications.telling import told
from services.agent.owners.domain import Me
from shared.clock import now


class NotificationTold(BaseModel):
    """`due_at`: when it was to come, in UTC; `due_local` on the wall clock of the person's zone, `said` in short words. `link`: a path of the workspace, or empty.
    `from_outside`: its task was made after untrusted text had been read (S11)."""

    notification_id: UUID
    title: str
    text: str
    at: datetime
    due_at: datetime
    due_local: str
    said: str
    task_id: UUID | None
    link: str
    read: bool
    from_outside: bool


class Shown(Body):
    notification_ids: Annotated[list[UUID], Field(max_length=KEPT_UNREAD)]


def add_notifications(app: FastAPI, api: Api, notifications: Notifications) -> None:
    async def changing(request: Request) -> Me:
        return await api.who(request, request.headers.get("x-form-token", ""))

    @app.get("/v1/notifications", summary="What I was told, newest first; nothing of a guest is kept")
    async def listed(
        request: Request, unread: bool = False, limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100
    ) -> list[NotificationTold]:
        me = await api.who(request, None)
        found = await notifications.list(me, MOST_LISTED if unread else limit)
        shown = [each for each in found if not unread or each.read_at is None][:limit]
        return [NotificationTold.model_validate(told(each, me.zone, now())) for each in shown]

    @app.post("/v1/notifications/read", status_code=204, summary="I have read all of them")
    async def read_all(request: Request) -> None:
        await notifications.read_all(await changing(request))

    @app.post(
        "/v1/notifications/shown",
        status_code=204,
        summary="A page has shown these as toasts; none that opens later does",
    )
    async def shown(request: Request, said: Shown) -> None:
        await notifications.shown(await changing(request), said.notification_ids)

    @app.post(
        "/v1/notifications/{notification_id}/read", status_code=204, summary="I have read it; its toast goes everywhere"
    )
    async def read(request: Request, notification_id: UUID) -> None:
        await notifications.read(await changing(request), notification_id)
