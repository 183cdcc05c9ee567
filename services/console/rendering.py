"""Jinja templates and what they may call. Everything is escaped; content never reaches a page as markup (S13)."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from services.console.bars import bars
from services.console.queue.domain import AUDIENCES, KINDS, LIMIT, VERDICTS, is_on_its_way
from shared.clock import now
from shared.ids import new_token
from shared.markup import invisible
from shared.web.static_files import StaticFiles

HERE = Path(__file__).parent
TONES = {
    "submitted": "wait",
    "changes_requested": "wait",
    "rejected": "stop",
    "approved": "pass",
    "scheduled": "pass",
    "published": "live",
    "superseded": "",
    "withdrawn": "",
}


def seen(text: str) -> Markup:
    """Escaped text in which every invisible or direction-turning character is shown by name (S13)."""
    found = invisible(text)
    if not found:
        return escape(text)
    lines = text.split("\n")
    at = {(line, column): name for line, column, name in found}
    shown = [
        Markup("").join(_shown(char, at.get((number, column))) for column, char in enumerate(line, start=1))
        for number, line in enumerate(lines, start=1)
    ]
    return Markup("\n").join(shown)


def _shown(char: str, name: str | None) -> Markup:
    if name is None:
        return escape(char)
    return Markup('<mark class="unseen" title="{}">U+{:04X}</mark>').format(name, ord(char))


def ago(at: datetime) -> str:
    seconds = max(0, int((now() - at).total_seconds()))
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {word}"
    return "now"


def moment(at: datetime | None, form: str = "day") -> Markup:
    """A `<time>`: `day` gives date and minute, `clock` the time of day, `exact` with milliseconds. All UTC."""
    if at is None:
        return Markup("unknown")
    patterns = {"day": f"{at.day} {at:%b %Y, %H:%M}", "clock": f"{at:%H:%M:%S}"}
    shown = patterns.get(form) or f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        at.isoformat(), at.isoformat(sep=" ", timespec="milliseconds")[:23], shown
    )


def short_hash(digest: str) -> Markup:
    """`9f2c 41d0 … 7ae8`, whole in the title and when copied."""
    return Markup('<span class="mono" title="{}">{} {} … {}</span>').format(
        digest, digest[:4], digest[4:8], digest[-4:]
    )


def span_of(milliseconds: float) -> str:
    """`+6.8 ms`, `+13 min 42 s`."""
    if milliseconds < 1000:
        return f"+{milliseconds:.1f} ms"
    seconds = round(milliseconds / 1000)
    if seconds < 60:
        return f"+{milliseconds / 1000:.1f} s"
    hours, rest = divmod(seconds, 3600)
    return f"+{hours} h {rest // 60} min" if hours else f"+{rest // 60} min {rest % 60} s"


class Templates:
    """Renders templates/*.html."""

    def __init__(self, static: StaticFiles, site_url: str) -> None:
        self._env = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            auto_reload=False,
            lstrip_blocks=True,
        )
        self._env.filters |= {"seen": seen, "ago": ago, "moment": moment, "short_hash": short_hash, "span_of": span_of}
        self._env.filters["instant"] = datetime.fromisoformat
        self._env.filters["words"] = lambda state: str(state).replace("_", " ")
        self._env.filters["figure"] = lambda number: f"{number:,}"
        self._env.globals |= {
            "static": static.url,
            "sprite": Markup(static.text("sprite.svg").split(">", 1)[1].rsplit("</svg>", 1)[0]),  # noqa: S704 - our own file
            "tones": TONES,
            "kinds": KINDS,
            "audiences": AUDIENCES,
            "verdicts": VERDICTS,
            "limit": LIMIT,
            "site_url": site_url,
            "bars": bars,
            "on_its_way": lambda item: is_on_its_way(item, now()),
            "labelled": lambda series: [(f"{day.day} {day:%b}", figure) for day, figure in series],
            "by_hour": lambda rows: [(f"{row['hour']:%H:%M}", row["n"]) for row in reversed(rows)],
            "me": None,
            "rejected": 0,
            "unread": 0,
            "waiting": 0,
            "cards_waiting": 0,
        }

    def render(self, template: str, context: Mapping[str, Any]) -> str:
        return self._env.get_template(template).render(context)

    @staticmethod
    def new_pre_token() -> str:
        return new_token()
