"""Jinja templates and what they may call. Everything is escaped; content never reaches a page as markup (S13)."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from services.console.queue.domain import AUDIENCES, KINDS, LIMIT, PAGE_KINDS, VERDICTS, is_on_its_way
from services.console.words import LANGUAGES, Language, Words, script_words
from services.console.words.catalogue import HOLE
from shared.charts import bars
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


def short_hash(digest: str) -> Markup:
    """`9f2c 41d0 … 7ae8`, whole in the title and when copied."""
    return Markup('<span class="mono" title="{}">{} {} … {}</span>').format(
        digest, digest[:4], digest[4:8], digest[-4:]
    )


class Voice:
    """One language as templates speak it. Messages are escaped, and so are their values; only `marked` ones hold markup, and those are ours."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def say(self, text: str, /, **values: Any) -> Markup:
        """`_("…")`: a literal of the template, or what another part said in English; in that, what is invisible is shown."""
        if not values:
            return seen(self.words.say(str(text)))
        return self._filled(escape(self.words.literal(text)), values)

    def count(self, one: str, many: str, n: int, /, **values: Any) -> Markup:
        """`_n("1 item", "{n} items", n)`."""
        return self.say(one if n == 1 else many, n=self.figure(n), **values)

    def marked(self, text: str, /, **values: Any) -> Markup:
        """`_m("<b>…</b> {who}")`: a literal with markup in it (a test looks that it is one); values are escaped."""
        return self._filled(Markup(self.words.literal(text)), values)  # noqa: S704 - a literal of ours

    def _filled(self, message: Markup, values: Mapping[str, Any]) -> Markup:
        def value(found: re.Match[str]) -> str:
            given = values.get(found[2], found[0])
            return str(escape(self.words.say(given) if found[1] and type(given) is str else given))

        return Markup(HOLE.sub(value, str(message)))  # noqa: S704 - message and values are escaped

    def ago(self, at: datetime) -> str:
        return self.words.ago(now() - at)

    def moment(self, at: datetime | None, form: str = "day") -> Markup:
        """A `<time>`: `day` gives date and minute, `clock` the time of day, `exact` with milliseconds. All UTC."""
        if at is None:
            return self.say("unknown")
        patterns = {"day": self.words.minute(at), "clock": f"{at:%H:%M:%S}"}
        shown = patterns.get(form) or f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"
        return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
            at.isoformat(), at.isoformat(sep=" ", timespec="milliseconds")[:23], shown
        )

    def figure(self, number: float | Decimal, places: int = 0) -> str:
        return self.words.figure(number, places)

    def span_of(self, milliseconds: float) -> str:
        """`+6.8 ms`, `+13 min 42 s`."""
        if milliseconds < 1000:
            return f"+{self.figure(milliseconds, 1)} ms"
        seconds = round(milliseconds / 1000)
        if seconds < 60:
            return f"+{self.figure(milliseconds / 1000, 1)} s"
        hours, rest = divmod(seconds, 3600)
        return f"+{hours} h {rest // 60} min" if hours else f"+{rest // 60} min {rest % 60} s"

    def state(self, state: str) -> Markup:
        """A state or verdict in words: `changes_requested` is “changes requested”."""
        return self.say(str(state).replace("_", " "))

    @property
    def filters(self) -> dict[str, Any]:
        return {
            "ago": self.ago,
            "moment": self.moment,
            "span_of": self.span_of,
            "words": self.state,
            "figure": self.figure,
            "day": self.words.day,
            "date": self.words.date,
        }


class Templates:
    """Renders templates/*.html, in every language."""

    def __init__(self, static: StaticFiles, site_url: str) -> None:
        self._envs = {language: _environment(Voice(Words(language)), static, site_url) for language in LANGUAGES}

    def render(self, template: str, context: Mapping[str, Any], language: Language = "en") -> str:
        return self._envs[language].get_template(template).render(context)

    def offer(self, **known: Any) -> None:
        """What every template of every language may use."""
        for each in self._envs.values():
            each.globals |= known

    @staticmethod
    def new_pre_token() -> str:
        return new_token()


def _environment(voice: Voice, static: StaticFiles, site_url: str) -> Environment:
    env = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        auto_reload=False,
        lstrip_blocks=True,
    )
    env.filters |= {"seen": seen, "short_hash": short_hash, "instant": datetime.fromisoformat, **voice.filters}
    env.globals |= {
        "_": voice.say,
        "_n": voice.count,
        "_m": voice.marked,
        "lang": voice.words.language,
        "page_language": voice.words.language,
        "languages": LANGUAGES,
        "script_words": json.dumps(script_words(voice.words.language), ensure_ascii=False),
        "static": static.url,
        "sprite": Markup(static.text("sprite.svg").split(">", 1)[1].rsplit("</svg>", 1)[0]),  # noqa: S704 - our own file
        "tones": TONES,
        "kinds": KINDS,
        "page_kinds": PAGE_KINDS,
        "audiences": AUDIENCES,
        "verdicts": VERDICTS,
        "limit": LIMIT,
        "site_url": site_url,
        "bars": partial(bars, say=voice.words.say, write=voice.words.figure),
        "on_its_way": lambda item: is_on_its_way(item, now()),
        "labelled": lambda series: [(voice.words.day(day), figure) for day, figure in series],
        "by_hour": lambda rows: [(f"{row['hour']:%H:%M}", row["n"]) for row in reversed(rows)],
        "me": None,
        "rejected": 0,
        "unread": 0,
        "waiting": 0,
        "cards_waiting": 0,
    }
    return env
