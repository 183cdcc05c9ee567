"""The start page and the lists: by kind, by language, newest first or by title."""

from starlette.requests import Request
from starlette.responses import Response

from services.site.reading.cache import ANY
from services.site.reading.catalog import Catalog
from services.site.reading.desk import HTML, Desk
from services.site.reading.layout import language_of
from services.site.reading.words import KINDS, language_name, words_for

PER_PAGE = 200
PER_SECTION = 5


class ListPages:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def is_list(self, path: str) -> bool:
        parts = path.split("/")
        match parts[1:]:
            case [""]:
                return True
            case [kind, ""] if kind in KINDS:
                return self._desk.catalog.count(kind) > 0
            case [lang, ""]:
                return self._desk.catalog.count(lang=lang) > 0
            case [kind, lang, ""] if kind in KINDS:
                return self._desk.catalog.count(kind, lang) > 0
        return False

    def listed(self, request: Request, path: str) -> Response | None:
        if not self.is_list(path):
            return None
        match path.split("/")[1:]:
            case [""]:
                return self._front_page(request, path, None)
            case [kind, ""] if kind in KINDS:
                return self._section(request, path, kind, None)
            case [kind, lang, ""]:
                return self._section(request, path, kind, lang)
            case [lang, ""]:
                return self._front_page(request, path, lang)
        return None

    def _front_page(self, request: Request, path: str, only: str | None) -> Response:
        words = words_for(only or "en")
        catalog = self._desk.catalog
        kinds = catalog.kinds(only)
        most = PER_SECTION if len(kinds) > 1 else 2 * PER_SECTION
        sections = [(kind, catalog.count(kind, only), catalog.newest(kind, only)[:most]) for kind in kinds]
        body = self._desk.layout.page(
            "index.html",
            words,
            lang=only or "en",
            nav_lang=only,
            sections=sections,
            total=catalog.count(lang=only),
            only=only,
            popular=catalog.popular(only),
            announced=catalog.announced(only),
            languages=self._languages(None),
            switches=_switches(catalog, only),
            feed=f"/{only}/feed.xml" if only else None,
        )
        return self._desk.keep(request, path, body.encode(), HTML, {ANY})

    def _section(self, request: Request, path: str, kind: str, only: str | None) -> Response:
        words = words_for(only or "en")
        catalog = self._desk.catalog
        items = catalog.section(kind, only)
        pages = max(1, -(-len(items) // PER_PAGE))
        number = whole(request.query_params.get("page", "1"))
        if not 1 <= number <= pages:
            return self._desk.layout.notice(language_of(request), 404)
        body = self._desk.layout.page(
            "section.html",
            words,
            lang=only or "en",
            kind=kind,
            nav_lang=only,
            only=only,
            path=path,
            heading=words[kind],
            total=len(items),
            items=items[(number - 1) * PER_PAGE : number * PER_PAGE],
            number=number,
            pages=pages,
            languages=self._languages(kind),
            switches=_switches(catalog, only, kind),
            feed=f"/{only}/feed.xml" if only else None,
        )
        return self._desk.keep(request, path, body.encode(), HTML, {ANY})

    def _languages(self, kind: str | None) -> list[tuple[str, str, str]]:
        """(tag, name, "71 pages") of each language, in its own words."""
        return [
            (lang, language_name(lang), words_for(lang).count(self._desk.catalog.count(kind, lang)))
            for lang in self._desk.catalog.languages(kind)
        ]


def whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


def _switches(catalog: Catalog, only: str | None, kind: str | None = None) -> list[tuple[str, str, str]]:
    """The same list in the other language of our own words, when there is something in it."""
    other = "en" if only == "de" else "de"
    url = f"/{kind}/{other}/" if kind else f"/{other}/"
    return [(url, other, language_name(other))] if catalog.count(kind, other) else []
