"""The console's web application: pages, API, static files, behind the guard."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from services.console.access.pages import AccessPages
from services.console.actions.pages import ActionPages
from services.console.agency.pages import AgencyPages
from services.console.analytics.pages import AnalyticsPages
from services.console.answers.pages import AnswerPages
from services.console.api import make_api, nowhere
from services.console.apps.card_pages import AppCardPages
from services.console.apps.frame_pages import FramePages
from services.console.apps.job_pages import AppJobPages
from services.console.apps.pages import AppPages
from services.console.attachments.pages import AttachmentPages
from services.console.audit.call_pages import CallPages
from services.console.audit.pages import AuditPages
from services.console.automations.pages import AutomationPages
from services.console.cards.pages import CardPages
from services.console.claims.pages import ClaimPages
from services.console.connectors.pages import ConnectorPages
from services.console.desk import Desk, go
from services.console.guests.pages import GuestPages
from services.console.identity.pages import IdentityPages
from services.console.imports.pages import ImportPages
from services.console.jobs.pages import JobPages
from services.console.leaks.pages import LeakPages
from services.console.links.pages import LinkPages
from services.console.mail.pages import MailPages
from services.console.mappings.pages import MappingPages
from services.console.notices.pages import NoticePages
from services.console.parts import Console
from services.console.people.joining_pages import JoiningPages
from services.console.people.me_pages import MePages
from services.console.people.pages import SignInPages
from services.console.people.people_pages import PeoplePages
from services.console.proposals.pages import ProposalPages
from services.console.provenance.pages import ProvenancePages
from services.console.queue.history_pages import HistoryPages
from services.console.queue.jobs import Jobs
from services.console.queue.pages import QueuePages
from services.console.queue.stream import Stream
from services.console.queue.submit_pages import SubmitPages
from services.console.queue.together_pages import TogetherPages
from services.console.records.pages import RecordPages
from services.console.rendering import HERE, Templates
from services.console.secrets.pages import SecretPages
from services.console.sections import Sections
from services.console.sharing.pages import SharingPages
from services.console.signals.pages import SignalPages
from services.console.spend.pages import SpendPages
from services.console.statistics.pages import StatisticsPages
from services.console.switches.pages import SwitchPages
from services.console.system.pages import SystemPages
from services.console.undo.pages import UndoPages
from shared.errors import NotFound, Refused, SchleuseError
from shared.telemetry import span
from shared.web.guard import Guard
from shared.web.static_files import LOOK, StaticFiles

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def make_web(console: Console) -> ASGIApp:
    """The ASGI app to serve."""
    static = StaticFiles("/static", [LOOK, HERE / "static"])
    templates = Templates(static, console.site_url)
    desk, jobs = Desk(console, templates), Jobs()
    switches, me = SwitchPages(desk), MePages(desk)
    pages: list[Any] = [
        TogetherPages(desk, jobs),
        UndoPages(desk, jobs),
        ClaimPages(desk),
        NoticePages(desk),
        QueuePages(desk, templates),
        HistoryPages(desk),
        SubmitPages(desk),
        AttachmentPages(desk),
        Stream(desk),
        SignInPages(desk),
        JoiningPages(desk),
        PeoplePages(desk),
        me,
        AccessPages(desk, me),
        MailPages(desk),
        GuestPages(desk),
        LinkPages(desk),
        IdentityPages(desk),
        switches,
        AgencyPages(desk, switches),
        AppPages(desk),
        AppCardPages(desk),
        AppJobPages(desk),
        FramePages(desk, templates),
        ConnectorPages(desk),
        CardPages(desk),
        ActionPages(desk),
        AutomationPages(desk),
        JobPages(desk),
        ProposalPages(desk),
        SecretPages(desk),
        RecordPages(desk),
        MappingPages(desk, templates),
        LeakPages(desk),
        AnswerPages(desk),
        ImportPages(desk),
        SignalPages(desk),
        AnalyticsPages(desk),
        ProvenancePages(desk),
        SharingPages(desk),
        SpendPages(desk),
        StatisticsPages(desk),
        CallPages(desk),
        AuditPages(desk),
        SystemPages(desk),
    ]
    routes = [
        Route("/", _home),
        Route("/static/{name}", _for_sandboxes(static.endpoint)),
        Mount("/api", make_api(console)),
        *(route for each in pages for route in each.routes()),
    ]
    templates.offer(sections=Sections(routes))
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error(desk), 500: _broken(desk)})
    settings = console.settings
    host = settings.url.split("//", 1)[1]
    return Guard(app, hosts={host}, origin=settings.url, csp=POLICY)


async def _home(_: Request) -> Response:
    return go("/queue")


def _for_sandboxes(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """A sandboxed preview has an origin of its own; only these files may be loaded from there."""

    async def serve(request: Request) -> Response:
        response = await endpoint(request)
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        return response

    return serve


def _broken(desk: Desk) -> Callable[[Request, Exception], Awaitable[Response]]:
    """For what nobody expected; the server logs the error itself."""

    async def answer(request: Request, _: Exception) -> Response:
        async def told() -> Response:
            raise SchleuseError("The console has a fault here. It is in the log, under the trace below.")

        with span("console fault"):
            return await desk.guarded(request, told)

    return answer


def _http_error(desk: Desk) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        if request.url.path.startswith("/api/"):  # a path that the mount's pattern does not take: one with a line break
            return await nowhere(request, error)
        status = getattr(error, "status_code", 500)

        async def told() -> Response:
            if status == 404:
                raise NotFound("There is no page at this address.")
            raise Refused("This address does not take that kind of request.")

        return await desk.guarded(request, told)

    return answer
