"""The frame of every HTML page: templates, static files, navigation."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from services.site.reading.cache import PRIVATE
from services.site.reading.catalog import Catalog
from services.site.reading.rendering import href
from services.site.reading.words import Words, language_name, words_for
from shared.web.static_files import LOOK, StaticFiles

_HERE = Path(__file__).parent
BARE: dict[str, Any] = {"closed": True, "kinds": (), "home": "/"}
"""What a page says that is shown to people who may not see what there is."""
_NEVER_CACHED = {"Cache-Control": PRIVATE.decode()}
RETRY_AFTER = 5
"""Seconds after which a visitor may try again when the site is not ready."""


class Layout:
    """Renders templates with what all of them need.

    `leaving` gives the token of the form that signs out, where one is shown. `bare`: pages name no sections and no lists.
    """

    def __init__(self, catalog: Catalog, leaving: Callable[[], str] | None = None, *, bare: bool = False) -> None:
        self._catalog, self._leaving, self._bare = catalog, leaving, bare
        self.static = StaticFiles("/static", (LOOK, _HERE / "static"))
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            auto_reload=False,
        )
        self._templates.globals |= {"static": self.static.url, "href": href, "language_name": language_name}

    def page(self, template: str, words: Words, **values: Any) -> str:
        """`lang` is the page's own language, by default that of its words."""
        known = {
            "w": words,
            "lang": words.lang,
            "home": "/de/" if words.lang == "de" and self._catalog.count(lang="de") else "/",
            "kinds": self._catalog.kinds(values.get("nav_lang")),
            "kind": None,
            "nav_lang": None,
            "switches": (),
            "feed": None,
            "briefs": self._catalog.briefs,
            "here": "/",
            "closed": False,
            "leaving": self._leaving and self._leaving(),
        }
        return self._templates.get_template(template).render(known | (BARE if self._bare else {}) | values)

    def notice(self, words: Words, status: int, text: str = "", headers: Mapping[str, str] | None = None) -> Response:
        """An error page: what happened, in words, and nothing else."""
        closed = status in (403, 503)
        named = str(status) if status in (403, 404, 410, 429, 503) else "422"
        body = self.page(
            "notice.html",
            words,
            status=status,
            heading=words[named],
            text=text or words[f"{named}_more"],
            way_on=not closed,
            **(BARE if closed else {}),
        )
        waiting = {"Retry-After": str(RETRY_AFTER)} if status == 503 else {}
        return private(body, status, {**waiting, **(headers or {})})


def private(body: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer that nobody may keep (S7)."""
    return Response(body, status, {**_NEVER_CACHED, **(headers or {})}, "text/html; charset=utf-8")


def moved(url: str) -> Response:
    """The same page under its one address."""
    return RedirectResponse(url, 308, _NEVER_CACHED)


def see(url: str) -> Response:
    """After a form: back to the page."""
    return RedirectResponse(url, 303, _NEVER_CACHED)


def language_of(request: Request) -> Words:
    """The language in which to speak about an address: German where its first or second segment says so."""
    german = "de" in request.url.path.split("/")[1:3] or request.query_params.get("ui") == "de"
    return words_for("de" if german else "en")


def spoken_by(request: Request) -> Words:
    """For pages that no cache keeps: as above, else as the browser asks."""
    asked = request.headers.get("accept-language", "").strip().lower()
    return words_for("de") if asked.startswith("de") else language_of(request)
