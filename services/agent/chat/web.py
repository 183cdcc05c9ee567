"""The workspace's web application: pages, live stream, API and static files, behind the guard."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from services.agent.chat.api import Api
from services.agent.chat.api_app import make_api
from services.agent.chat.callers import Callers
from services.agent.chat.front import Front
from services.agent.chat.live import Live
from services.agent.chat.more_pages import MorePages
from services.agent.chat.pages import ChatPages
from services.agent.chat.parts import Chat
from services.agent.chat.reading import Reading
from services.agent.chat.rendering import HERE, Templates
from services.agent.chat.stream import Streams
from services.agent.chat.tabs import Tabs
from services.agent.guests.passing import SOCKET, Passing
from services.agent.owners.domain import Me
from shared.errors import SchleuseError
from shared.identity.doors import SIGNED_IN
from shared.settings import Settings
from shared.web.guard import App, Guard
from shared.web.static_files import LOOK, StaticFiles

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'self'; frame-ancestors 'none'"
)
"""Nothing is loaded from elsewhere, whatever a model or a page that it read would like (S11)."""


@dataclass(frozen=True)
class Web:
    """`close`: the server begins to stop, open streams end."""

    app: App
    close: Callable[[], None]
    passing: Passing


def make_web(
    chat: Chat,
    more: Callable[[Front], Sequence[BaseRoute]] = lambda _: (),
    also: Callable[[FastAPI, Api], None] = lambda _, __: None,
    settings: Settings | None = None,
) -> Web:
    """`more`: pages of other parts; `also` adds what they answer to the API. `settings` name the other instances, which may know a guest."""
    closing = asyncio.Event()
    static = StaticFiles("/static", (LOOK, HERE / "static"))
    templates = Templates(static, chat.surface.console_url)
    callers, tabs, reading = Callers(chat.door, chat.visits, chat.surface), Tabs(chat.notices), Reading(chat)
    streams = Streams(chat, tabs, closing)
    front = Front(chat, callers, templates)
    api = Api(chat, callers, reading, streams, tabs)
    routes: list[BaseRoute] = [
        *ChatPages(front, reading, tabs).routes(),
        *MorePages(front, reading).routes(),
        *Live(callers, reading, streams, templates, chat.notifications).routes(),
        *front.door.routes(),
        Route("/static/{name}", static.endpoint),
        *more(front),
        Mount("/api", make_api(api, also)),
    ]
    app = Starlette(routes=routes, exception_handlers={SchleuseError: front.failed, HTTPException: front.missing})
    chat.visits.ended.append(_gone(chat))
    surface = chat.surface
    places = {} if settings is None else _places(settings)
    passing = Passing(app, chat.visits.place, places, callers.guest_cookie, frozenset({surface.cookie}))

    def guarded(inner: ASGIApp) -> Guard:
        host, handed_over = surface.url.split("//", 1)[1], {SIGNED_IN: surface.console_url}
        return Guard(inner, hosts={host}, origin=surface.url, csp=CSP, handed_over=handed_over)

    if settings is not None:
        passing.take(guarded(app), settings.run / SOCKET, closing.set)
    return Web(guarded(passing), closing.set, passing)


def _places(settings: Settings) -> dict[str, Path]:
    """The sockets of the other instances, by their names."""
    others = (
        settings.model_copy(update={"instance": each}) for each in settings.instances if each != settings.instance
    )
    return {each.part: each.run / SOCKET for each in others}


def _gone(chat: Chat) -> Callable[[Me], None]:
    def ended(me: Me) -> None:
        chat.desk.leave(me)

    return ended
