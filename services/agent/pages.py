"""The workspace's front door until the chat is there."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from shared.settings import Settings
from shared.web.guard import App, Guard
from shared.web.static_files import StaticFiles

CSP = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TEMPLATES = Path(__file__).parent / "templates"


def workspace_app(settings: Settings) -> App:
    """Two pages: what is to come, and that there is nothing else."""
    static = StaticFiles("/static")
    templates = Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined)

    def page(status: int, heading: str, text: str) -> HTMLResponse:
        console = settings.urls["console"]
        html = templates.get_template("shell.html").render(url=static.url, heading=heading, text=text, console=console)
        return HTMLResponse(html, status, headers={"Cache-Control": "private, no-store"})

    async def front(_: Request) -> Response:
        return page(200, "The workspace opens with the next release", "Chat, files, tasks and memory will be here.")

    async def missing(_: Request, __: Exception) -> Response:
        return page(404, "404: there is no such page", "Nothing was changed.")

    routes = [Route("/", front), Route("/static/{name}", static.endpoint)]
    app = Starlette(routes=routes, exception_handlers={404: missing})
    host = settings.url.split("//", 1)[1]
    return Guard(app, hosts={host}, origin=settings.url, csp=CSP)
