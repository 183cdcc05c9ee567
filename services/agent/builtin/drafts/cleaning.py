"""“Delete vsg_runs rows older than 90 days every Sunday”, in English and German: which table, how old, when. Pure."""

import re
from dataclasses import dataclass

from services.agent.drafting.known import folded
from shared.schedules.words import find_schedule

_VERB = r"(?:deletes?|deleted|deleting|remove|removing|clean(?:ing)?(?: up)?|clear|purge|prune|drop|erase|tidy(?: up)?|get rid of|lösche|lösch|löschen|gelöscht|entferne|entfernen|bereinige|bereinigen|räume|räum|aufräumen|säubere|säubern|wirf|werfen)"
_UNIT = r"(?P<unit>days?|weeks?|months?|years?|tage?n?|wochen?|monate?n?|jahre?n?)"
_NUMBER = r"(?P<n>\d{1,5}|an?|one|two|three|four|five|six|seven|eight|nine|ten|thirty|sixty|ninety|einen?|einem|einer|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|dreißig|sechzig|neunzig)"
AGE = re.compile(rf"(?:,\s*)?(?:(?:that|which|who|if they|when they)\s+(?:are|were|is|have been)\s+|(?:,\s*)?die\s+)?(?:older|more)\s+than\s+{_NUMBER}\s+{_UNIT}(?:\s+(?:old|ago))?", re.IGNORECASE)  # fmt: skip
ALTER = re.compile(rf"(?:,\s*)?(?:(?:die|welche|wenn sie)\s+)?(?:älter|mehr)\s+als\s+{_NUMBER}\s+{_UNIT}(?:\s+(?:alt|her))?(?:\s+sind)?", re.IGNORECASE)  # fmt: skip
_BY = re.compile(r"\b(?:by|going by|according to|counted from|nach(?: der Spalte)?|laut)\s+(?:the\s+column\s+|column\s+|spalte\s+)?(?P<by>[a-z][a-z0-9_]{1,59})\b", re.IGNORECASE)  # fmt: skip
_WHERE = re.compile(r"\b(?:where|with|whose|mit|bei denen)\s+(?:the\s+|der\s+|die\s+)?(?P<column>[a-z][a-z0-9_]{0,59})\s*(?:=|is|ist|equals)\s*[\"'„“]?(?P<value>[^\s,;.\"'“”]{1,80})[\"'“”]?", re.IGNORECASE)  # fmt: skip
_FILLER = frozenset(
    [
        "all",
        "any",
        "every",
        "of",
        "the",
        "our",
        "my",
        "old",
        "older",
        "rows",
        "row",
        "records",
        "record",
        "entries",
        "entry",
        "data",
        "from",
        "in",
        "into",
        "out",
        "up",
        "please",
        "table",
        "tables",
        "app",
        "job",
        "a",
        "an",
        "make",
        "create",
        "set",
        "propose",
        "me",
        "for",
        "to",
        "that",
        "which",
        "are",
        "is",
        "and",
        "by",
        "itself",
        "automatically",
        "cleanup",
        "i",
        "want",
        "you",
        "need",
        "read",
        "alle",
        "alten",
        "alte",
        "alter",
        "alles",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "aus",
        "in",
        "im",
        "von",
        "vom",
        "zeilen",
        "zeile",
        "einträge",
        "eintrag",
        "einträgen",
        "datensätze",
        "datensatz",
        "datensätzen",
        "daten",
        "tabelle",
        "tabellen",
        "ab",
        "auf",
        "weg",
        "raus",
        "bitte",
        "und",
        "mir",
        "uns",
        "automatisch",
        "aufräumjob",
        "job",
        "lege",
        "leg",
        "an",
        "erstelle",
        "mach",
        "mache",
        "einen",
        "ein",
        "eine",
        "sollen",
        "soll",
        "werden",
        "there",
        "should",
        "be",
        "gelesene",
        "gelesenen",
        "ich",
        "will",
        "möchte",
        "dass",
    ]
)
_SIZES = {"day": 1, "tag": 1, "week": 7, "woche": 7, "month": 30, "monat": 30, "year": 365, "jahr": 365}
_WORDS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "thirty": 30, "sixty": 60, "ninety": 90,
    "ein": 1, "eine": 1, "einen": 1, "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "dreißig": 30, "sechzig": 60, "neunzig": 90,
}  # fmt: skip
_MONTHLY = re.compile(
    r"\b(?:on the \S+ (?:day )?of (?:every|each|the) month(?: at \S+(?: ?[ap]m)?)?|am \S+ (?:tag )?(?:jedes|eines jeden|des) monats(?: um \S+(?: uhr)?)?)", re.IGNORECASE
)  # fmt: skip
_REMIND = re.compile(r"\s*(?:remind|erinner)", re.IGNORECASE)
_OTHER = frozenset(
    [
        "files",
        "file",
        "dateien",
        "datei",
        "mails",
        "mail",
        "emails",
        "reminders",
        "erinnerungen",
        "lessons",
        "lektionen",
        "conversations",
        "gespraeche",
        "memory",
        "downloads",
        "links",
    ]
)
"""Not of the console: other tools look after these."""
_VERBS = re.compile(rf"\b{_VERB}\b", re.IGNORECASE)
_NAME = re.compile(r"[\w.-]+")
TRANSLATED = {
    "laeufe": "runs", "lauf": "runs", "kunden": "customers", "kunde": "customers", "bestellungen": "orders", "auftraege": "orders", "produkte": "products", "kategorien": "categories",
    "mitarbeiter": "employees", "rechnungen": "invoices", "lieferanten": "suppliers", "notizen": "notes", "aufgaben": "tasks", "termine": "appointments", "nachrichten": "messages",
    "mitteilungen": "notices", "rueckmeldungen": "feedback", "protokolle": "logs", "ereignisse": "events", "sitzungen": "sessions", "anmeldungen": "registrations", "buchungen": "bookings",
}  # fmt: skip
"""German words for tables that are called in English."""


@dataclass(frozen=True)
class Cleaning:
    """What was asked for. `table`: a word of theirs, maybe empty; `schedule`: empty when none was said."""

    table: str
    days: int
    schedule: str
    by: str = ""
    where: tuple[tuple[str, str], ...] = ()


def read_cleaning(text: str) -> Cleaning | None:
    """None for whatever is no such request: it takes a word for deleting, and an age."""
    age = ALTER.search(text) or AGE.search(text)
    if age is None or _REMIND.match(text) or _VERBS.search(text) is None or len(text) > 600:
        return None
    days = _days(age["n"], age["unit"])
    rest = _VERBS.sub(" ", f"{text[: age.start()]} {text[age.end() :]}")
    schedule, rest = _schedule(" ".join(rest.replace(" ,", ",").strip(" ,:;.!").split()))
    by = _BY.search(rest)
    where = tuple((each["column"].lower(), each["value"]) for each in _WHERE.finditer(rest))
    rest = _WHERE.sub(" ", rest)
    rest = _BY.sub(" ", rest)
    table = _table(rest)
    if not days or folded(table) in _OTHER:
        return None
    return Cleaning(table, days, schedule.strip(" ,"), by["by"] if by else "", where)


def _schedule(text: str) -> tuple[str, str]:
    """The words for when, and the rest."""
    monthly = _MONTHLY.search(text)
    if monthly is not None:
        return monthly[0].strip(), text[: monthly.start()] + " " + text[monthly.end() :]
    return find_schedule(text)


def in_english(table: str) -> str:
    """What a German word for a table may be called."""
    return TRANSLATED.get(folded(table), table)


def _days(number: str, unit: str) -> int:
    stem = next(each for each in _SIZES if unit.casefold().startswith(each))
    return (int(number) if number.isdigit() else _WORDS[number.casefold()]) * _SIZES[stem]


def _table(rest: str) -> str:
    """The first word that is neither filler nor mark; a name with `_` or `.` before all others."""
    words = [each.strip(".-") for each in _NAME.findall(rest)]
    left = [each for each in words if each and each.casefold() not in _FILLER and not each.isdigit()]
    named = [each for each in left if "_" in each or "." in each]
    first: str = (named or left or [""])[0]
    return first.removesuffix("-Zeilen").removesuffix("-Einträge").removesuffix("-Tabelle")
