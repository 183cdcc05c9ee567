"""Words of English and German, folded: lower case, ä ö ü ß as ae oe ue ss. A word that both languages have counts for neither."""

import unicodedata

from shared.schedules.words.domain import Part, Unit

_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "’": "'"})


def fold(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold().translate(_SPELLED)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _table(text: str) -> dict[str, int]:
    """`word word=number` lines: every word before the sign means the number."""
    found: dict[str, int] = {}
    for line in text.split(";"):
        words, _, number = line.partition("=")
        found.update(dict.fromkeys(words.split(), int(number)))
    return found


EN_DAYS = _table(
    "monday mon=1; tuesday tue tues=2; wednesday wed weds=3; thursday thu thur thurs=4; friday fri=5; saturday sat=6; sunday sun=7"
)
DE_DAYS = _table("montag=1; dienstag=2; mittwoch=3; donnerstag=4; freitag=5; samstag sonnabend=6; sonntag=7")
SHORT_DE_DAYS = _table("mo=1; di=2; mi=3; do=4; fr=5; sa=6; so=7")
WEEKDAYS = EN_DAYS | DE_DAYS | SHORT_DE_DAYS
HABITS = {f"{day}s": number for day, number in (EN_DAYS | DE_DAYS).items() if len(day) > 4 or day == "sun"}
HABITS |= {f"{day}{end}": number for day, number in DE_DAYS.items() for end in ("en", "e") if day != "mittwoch"}
HABITS |= {"mittwochen": 3, "mittwoche": 3}
"""Days that name a habit by themselves: "Sundays", "sonntags", "an Sonntagen"."""
WORKDAY = _words("weekday workday werktag arbeitstag wochentag")
WORKDAY_HABIT = _words(
    "weekdays workdays werktags werktage werktagen arbeitstage arbeitstagen arbeitstags wochentags wochentage wochentagen"
)
WEEKEND_WORDS = _words("weekend wochenende")
WEEKEND_HABIT = _words("weekends wochenenden wochenends")
MONTHS = _table(
    "january jan januar jaenner=1; february feb februar feber=2; march mar maerz mrz=3; april apr=4; may mai=5; june jun juni=6; july jul juli=7; "
    "august aug=8; september sep sept=9; october oct oktober okt=10; november nov=11; december dec dezember dez=12"
)
UNITS: dict[str, Unit] = {
    **dict.fromkeys(_words("second seconds sec secs s sekunde sekunden sek"), "second"),
    **dict.fromkeys(_words("minute minutes min mins minuten"), "minute"),
    **dict.fromkeys(_words("hour hours h hr hrs stunde stunden std"), "hour"),
    **dict.fromkeys(_words("day days d tag tage tagen tages"), "day"),
    **dict.fromkeys(_words("week weeks w wk wks woche wochen"), "week"),
    **dict.fromkeys(_words("month months monat monate monaten monats"), "month"),
    **dict.fromkeys(_words("year years yr yrs jahr jahre jahren jahres"), "year"),
}
ADVERBS: dict[str, tuple[float, Unit]] = {
    **dict.fromkeys(_words("daily everyday taeglich tgl alltaeglich"), (1, "day")),
    **dict.fromkeys(_words("hourly stuendlich"), (1, "hour")),
    **dict.fromkeys(_words("weekly woechentlich"), (1, "week")),
    **dict.fromkeys(_words("monthly monatlich"), (1, "month")),
    **dict.fromkeys(_words("yearly annually jaehrlich alljaehrlich"), (1, "year")),
    **dict.fromkeys(_words("fortnightly zweiwoechentlich vierzehntaegig"), (2, "week")),
    **dict.fromkeys(_words("quarterly vierteljaehrlich quartalsweise"), (3, "month")),
    **dict.fromkeys(_words("halbjaehrlich"), (6, "month")),
    **dict.fromkeys(_words("zweimonatlich"), (2, "month")),
    **dict.fromkeys(_words("minuetlich"), (1, "minute")),
    **dict.fromkeys(_words("halbstuendlich"), (0.5, "hour")),
    **dict.fromkeys(_words("viertelstuendlich"), (0.25, "hour")),
}
NUMBERS = _table(
    "zero null=0; a an one ein eine einen einem einer eines eins=1; two zwei zwo=2; three drei=3; four vier=4; five fuenf=5; six sechs=6; seven sieben=7; "
    "eight acht=8; nine neun=9; ten zehn=10; eleven elf=11; twelve zwoelf=12; thirteen dreizehn=13; fourteen vierzehn=14; fifteen fuenfzehn=15; "
    "sixteen sechzehn=16; seventeen siebzehn=17; eighteen achtzehn=18; nineteen neunzehn=19; twenty zwanzig=20; thirty dreissig=30; forty vierzig=40; "
    "fifty fuenfzig=50; sixty sechzig=60; ninety neunzig=90"
)
NUMBERS |= {
    f"{one}und{ten}": NUMBERS[ten] + NUMBERS["eins" if one == "ein" else one]
    for ten in ("zwanzig", "dreissig", "vierzig", "fuenfzig")
    for one in ("ein", "zwei", "drei", "vier", "fuenf", "sechs", "sieben", "acht", "neun")
}
ARTICLES = _words("a an ein eine einen einem einer eines")
HALVES = {"anderthalb": 1.5, "eineinhalb": 1.5, "zweieinhalb": 2.5}
_STEMS = ("erst", "zweit", "dritt", "viert", "fuenft", "sechst", "siebt", "acht", "neunt", "zehnt", "elft", "zwoelft")
ORDINALS = {f"{stem}{end}": number for number, stem in enumerate(_STEMS, 1) for end in ("e", "en", "er", "es", "em")}
ORDINALS |= _table(
    "first=1; second=2; third=3; fourth=4; fifth=5; sixth=6; seventh=7; eighth=8; ninth=9; tenth=10; eleventh=11; twelfth=12; "
    "last letzte letzten letzter letztes letztem=-1"
)
PARTS: dict[str, Part] = {
    **dict.fromkeys(_words("am"), "am"),
    **dict.fromkeys(_words("pm"), "pm"),
    **dict.fromkeys(_words("morning mornings morgens frueh vormittag vormittags fruehmorgens"), "morning"),
    **dict.fromkeys(_words("mittags mittag"), "noon"),
    **dict.fromkeys(_words("afternoon afternoons nachmittag nachmittags"), "afternoon"),
    **dict.fromkeys(_words("evening evenings abend abends"), "evening"),
    **dict.fromkeys(_words("night nights nacht nachts"), "night"),
}
EVERY = _words("every each jede jeden jeder jedes jedem alle allen per pro")
OTHER = _words("other zweite zweiten zweites zweiter second")
UNTIL = _words("until till til bis")
STARTING = _words("starting beginning from ab beginnend startend")
AND = _words("and und & + sowie")
THE = _words("the on of der die das den dem des am an im in vom von zum zur at'") - {"at'"}
COMING = _words("next coming naechste naechsten naechster naechstes naechstem kommende kommenden kommender kommendes")
THIS = _words("this diese diesen dieser dieses diesem")
CLEANUP = _words(
    "cleanup clean delete prune purge aufraeumen aufraeumjob loeschen loesche bereinigen bereinige raeume saeubern"
)
EXCEPT = _words("except excluding ausser")
POLITE = _words(
    "only nur exactly sharp punkt genau please bitte always immer jeweils regelmaessig regularly single einmal once ok okay"
)
