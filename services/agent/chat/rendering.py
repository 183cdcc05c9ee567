"""Templates of the workspace. What a model or a tool wrote reaches a page as rendered by shared.markup, everything else escaped."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from shared.web.static_files import StaticFiles

HERE = Path(__file__).parent.parent


class Templates:
    def __init__(self, static: StaticFiles, console_url: str) -> None:
        loader = FileSystemLoader(HERE / "templates")
        self._jinja = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._jinja.globals.update(url=static.url, console=console_url)
        self._jinja.filters.update(iso=datetime.isoformat, rendered=Markup)

    def render(self, name: str, **context: Any) -> str:
        return self._jinja.get_template(name).render(**context)

    def macro(self, name: str) -> Callable[..., str]:
        """A macro of `_chat.html`, for pieces of a page."""
        found: Callable[..., str] = getattr(self._jinja.get_template("_chat.html").module, name)
        return found
