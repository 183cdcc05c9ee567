"""The page behind the bell: what one was told, newest first. It works without JavaScript; toasts.js makes it live."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from services.agent.chat.front import Asked, Front
from services.agent.chat.showing import clock
from services.agent.notifications.domain import Notification
from services.agent.notifications.kept import Notifications
from services.agent.notifications.telling import link_of
from services.agent.owners.domain import Me
from shared.clock import now
from shared.identity.doors import go

SHOWN = 100
LATE = 60
"""Seconds after which it is said when something was to come."""


class NotificationPages:
    def __init__(self, front: Front, notifications: Notifications) -> None:
        self._front, self._notifications = front, notifications

    def routes(self) -> list[Route]:
        page = self._front.page
        return [
            Route("/notifications", page(self.show), methods=["GET"]),
            Route("/notifications/read", page(self.read_all), methods=["POST"]),
            Route("/notifications/{notification_id:uuid}/read", page(self.read), methods=["POST"]),
        ]

    async def show(self, asked: Asked) -> Response:
        me = asked.caller.me
        found = await self._notifications.list(me, SHOWN)
        rows = [(each, _when(each, me)) for each in found]
        links = {each.notification_id: link_of(each) for each in found}
        known: dict[str, Any] = {
            "links": links,
            "unread": await self._notifications.unread(me),
            "left_out": await self._notifications.left_out(me),
        }
        return self._front.show(
            asked.caller, "notifications.html", here="notifications", rows=rows, most=SHOWN, **known
        )

    async def read(self, asked: Asked) -> Response:
        self._front.check(asked)
        await self._notifications.read(asked.caller.me, asked.request.path_params["notification_id"])
        return go("/notifications")

    async def read_all(self, asked: Asked) -> Response:
        self._front.check(asked)
        await self._notifications.read_all(asked.caller.me)
        return go("/notifications")


def _when(each: Notification, me: Me) -> str:
    """When it came, and when it was to come where that is another time."""
    at = clock(each.at, me.zone, now())
    late = (each.at - each.due_at).total_seconds() > LATE
    return f"{at}, due {clock(each.due_at, me.zone, now())}" if late else at
