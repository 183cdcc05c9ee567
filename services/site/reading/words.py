"""The site's own words, in English and German. Pages in other languages get the English ones."""

from collections.abc import Mapping
from datetime import datetime

from schemas.content import Attachment
from services.site.entrance import words as entrance
from services.site.reading import visitor_words as visitors
from shared.attachments import human_size

KINDS = ("announcement", "doc", "report", "page")
"""In the order in which sections stand."""

_EN = {
    "skip": "Skip to content",
    "sections": "Sections",
    "search": "Search",
    "search_label": "Search published pages",
    "search_hint": "Search {n} published pages",
    "lead": "What has passed the lock",
    "announcement": "Announcements",
    "doc": "Docs",
    "report": "Reports",
    "page": "Pages",
    "all_of": "All {n} in {kind}",
    "recent": "Newest first",
    "most": "Most read this week",
    "languages": "Languages",
    "all_languages": "All languages",
    "count": "{n} pages",
    "count_one": "1 page",
    "more": "More",
    "contents": "Contents",
    "minutes": "{n} min",
    "revision": "Revision {n}",
    "approved_all": "Every page here was approved by a person.",
    "approved_on": "Approved by a person on {date}.",
    "receipt": "Receipt",
    "feed": "Feed",
    "map": "Site map",
    "privacy": "Privacy",
    "empty": "Nothing has been published yet",
    "empty_more": "What a person approves in the lock appears here at once.",
    "helpful": "Was this page helpful?",
    "yes": "Yes",
    "no": "No",
    "take_back": "Take my vote back",
    "voted": "Your vote is counted. One vote per visitor and day; a second one replaces it.",
    "reactions": "In short:",
    "thanks": "thank you",
    "clear": "clear",
    "outdated": "outdated",
    "confusing": "confusing",
    "reacted": "Noted. Thank you.",
    "feedback": "What is missing or wrong?",
    "send": "Send",
    "feedback_hint": "Without a name, at most 4,000 characters. It is read inside and not published.",
    "fed_back": "Thank you. A person will read it; it is not published.",
    "files": "Files",
    "related": "Read also",
    "results": "{n} pages contain “{q}”",
    "results_one": "1 page contains “{q}”",
    "results_none": "No published page contains “{q}”",
    "results_ask": "Type one or more words. The beginning of a word is enough.",
    "previous": "Previous",
    "next": "Next",
    "pages": "Pages of the list",
    "page_n": "Page {n} of {m}",
    "until": "until {date}",
    "404": "This page does not exist",
    "404_more": "There is nothing at this address. Check it, or look for the page in the search.",
    "410": "This page is gone",
    "410_more": "It was published here and has been withdrawn.",
    "403": "This site is closed",
    "403_more": "Its owner has switched it off.",
    "503": "This site is not ready",
    "503_more": "It shows nothing before it has checked what may be shown. It will be back shortly.",
    "429": "That was too much at once",
    "429_more": "At most 30 votes, reactions and messages a minute are taken. Wait a minute and send it again.",
    "422": "This could not be taken",
    "home": "To the start page",
}
_DE = {
    "skip": "Zum Inhalt",
    "sections": "Bereiche",
    "search": "Suche",
    "search_label": "Veröffentlichte Seiten durchsuchen",
    "search_hint": "{n} veröffentlichte Seiten durchsuchen",
    "lead": "Was die Schleuse passiert hat",
    "announcement": "Meldungen",
    "doc": "Dokumente",
    "report": "Berichte",
    "page": "Seiten",
    "all_of": "Alle {n} in {kind}",
    "recent": "Neueste zuerst",
    "most": "Diese Woche viel gelesen",
    "languages": "Sprachen",
    "all_languages": "Alle Sprachen",
    "count": "{n} Seiten",
    "count_one": "1 Seite",
    "more": "Mehr",
    "contents": "Inhalt",
    "minutes": "{n} Min.",
    "revision": "Fassung {n}",
    "approved_all": "Jede Seite hier hat ein Mensch freigegeben.",
    "approved_on": "Von einem Menschen freigegeben am {date}.",
    "receipt": "Beleg",
    "feed": "Feed",
    "map": "Seitenübersicht",
    "privacy": "Datenschutz",
    "empty": "Noch ist nichts veröffentlicht",
    "empty_more": "Was ein Mensch in der Schleuse freigibt, erscheint hier sofort.",
    "helpful": "War diese Seite hilfreich?",
    "yes": "Ja",
    "no": "Nein",
    "take_back": "Meine Stimme zurücknehmen",
    "voted": "Ihre Stimme ist gezählt. Je Besucher und Tag gilt eine; eine zweite ersetzt sie.",
    "reactions": "Kurz gesagt:",
    "thanks": "danke dafür",
    "clear": "verständlich",
    "outdated": "veraltet",
    "confusing": "verwirrend",
    "reacted": "Notiert. Vielen Dank.",
    "feedback": "Was fehlt oder stimmt nicht?",
    "send": "Absenden",
    "feedback_hint": "Ohne Namen, höchstens 4.000 Zeichen. Wird innen gelesen und nicht veröffentlicht.",
    "fed_back": "Vielen Dank. Ein Mensch wird es lesen; veröffentlicht wird es nicht.",
    "files": "Dateien",
    "related": "Auch lesen",
    "results": "{n} Seiten enthalten „{q}“",
    "results_one": "1 Seite enthält „{q}“",
    "results_none": "Keine veröffentlichte Seite enthält „{q}“",
    "results_ask": "Geben Sie ein oder mehrere Wörter ein. Der Anfang eines Wortes genügt.",
    "previous": "Zurück",
    "next": "Weiter",
    "pages": "Seiten der Liste",
    "page_n": "Seite {n} von {m}",
    "until": "bis {date}",
    "404": "Diese Seite gibt es nicht",
    "404_more": "Unter dieser Adresse ist nichts. Prüfen Sie sie, oder suchen Sie die Seite.",
    "410": "Diese Seite gibt es nicht mehr",
    "410_more": "Sie war hier veröffentlicht und wurde zurückgezogen.",
    "403": "Diese Website ist geschlossen",
    "403_more": "Der Betreiber hat sie abgeschaltet.",
    "503": "Diese Website ist noch nicht bereit",
    "503_more": "Sie zeigt nichts, bevor sie geprüft hat, was gezeigt werden darf. Gleich ist sie wieder da.",
    "429": "Das war zu viel auf einmal",
    "429_more": "Je Minute werden höchstens 30 Stimmen, Reaktionen und Nachrichten angenommen. Senden Sie es in einer Minute noch einmal.",
    "422": "Das konnte nicht angenommen werden",
    "home": "Zur Startseite",
}
_MONTHS = {
    "en": [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    "de": [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ],
}
_LANGUAGES = {
    "cs": "Čeština",
    "da": "Dansk",
    "de": "Deutsch",
    "en": "English",
    "es": "Español",
    "fr": "Français",
    "it": "Italiano",
    "ja": "日本語",
    "nl": "Nederlands",
    "pl": "Polski",
    "pt": "Português",
    "sv": "Svenska",
    "tr": "Türkçe",
    "uk": "Українська",
    "zh": "中文",
}


class Words:
    """`words["search"]`, `words("minutes", n=3)`."""

    def __init__(self, lang: str) -> None:
        self.lang = "de" if lang.lower().split("-")[0] == "de" else "en"
        self._table: Mapping[str, str] = (
            _DE | entrance.GERMAN | visitors.GERMAN if self.lang == "de" else _EN | entrance.ENGLISH | visitors.ENGLISH
        )

    def __getitem__(self, name: str) -> str:
        return self._table[name]

    def get(self, name: str, otherwise: str) -> str:
        """The words of this name, else those of another."""
        return self._table[name if name in self._table else otherwise]

    def __call__(self, name: str, **values: object) -> str:
        return self._table[name].format(**values)

    def file(self, attachment: Attachment) -> str:
        """`PDF, 120 KiB`."""
        return f"{attachment.name.rpartition('.')[2].upper()}, {human_size(attachment.size)}"

    def count(self, n: int) -> str:
        return self["count_one"] if n == 1 else self("count", n=n)

    def date(self, at: datetime) -> str:
        """29 November 2026, 29. November 2026."""
        return f"{at.day}{'.' if self.lang == 'de' else ''} {_MONTHS[self.lang][at.month - 1]} {at.year}"


ENGLISH, GERMAN = Words("en"), Words("de")


def words_for(lang: str) -> Words:
    return GERMAN if lang.lower().split("-")[0] == "de" else ENGLISH


def language_name(lang: str) -> str:
    """What a language calls itself; its tag when we do not know."""
    return _LANGUAGES.get(lang) or _LANGUAGES.get(lang.lower().split("-")[0], lang)
