"""In which of the two languages a schedule was said: by its words, each of which counts once."""

from collections.abc import Iterable

from shared.schedules.words.domain import Lang


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GERMAN = _words(
    "um uhr halb viertel dreiviertel nach vor bis ab jede jeden jeder jedes jedem alle allen im des dem den der die das und heute morgen uebermorgen naechste "
    "naechsten naechster naechstes naechstem kommende kommenden kommender ende anfang mitternacht mittag mittags nein sondern nicht lieber doch ausser zwischen "
    "von lang ist es erinnere mich monatsende jahresende spaeter frueher zum zur stattdessen volle vollen montag dienstag mittwoch donnerstag freitag samstag "
    "sonnabend sonntag montags dienstags mittwochs donnerstags freitags samstags sonnabends sonntags werktag werktags werktage werktagen wochentag wochentags "
    "wochentage arbeitstag arbeitstage arbeitstagen wochenende wochenenden januar februar maerz mai juni juli oktober dezember dez okt taeglich stuendlich "
    "woechentlich monatlich jaehrlich alljaehrlich zweiwoechentlich vierzehntaegig vierteljaehrlich halbjaehrlich halbstuendlich viertelstuendlich minuetlich "
    "stunde stunden std sekunde sekunden minuten tag tage tagen tages woche wochen monat monate monaten monats jahr jahre jahren jahres morgens frueh vormittag "
    "vormittags nachmittag nachmittags abend abends nacht nachts zwei drei vier fuenf sechs sieben acht neun zehn elf zwoelf fuenfzehn zwanzig dreissig ein "
    "eine einen einem einer eines anderthalb erste ersten erster erstes zweite zweiten dritte dritten vierte vierten letzte letzten letzter letztes mo di mi do "
    "fr sa so bitte loesche loeschen raeume aufraeumen bereinige bereinigen monatsletzten tgl auf mach"
)
_ENGLISH = _words(
    "at every each the on of and until till from to tomorrow today tonight next half past quarter noon midday midnight no not instead make it except between "
    "weekday weekdays workday workdays weekend weekends end remind me delete clean cleanup later earlier last other first second third fourth fifth o'clock pm "
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays mon tue tues wed thu thurs fri sat "
    "sun daily hourly weekly monthly yearly annually fortnightly quarterly minutes hour hours day days week weeks month months year years morning mornings "
    "afternoon afternoons evening evenings night nights a an one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty january "
    "february march may june july october december dec oct starting beginning please"
)


def spoken(words: Iterable[str], otherwise: Lang = "en") -> Lang:
    """Folded words; `otherwise` when they do not tell."""
    german = english = 0
    for word in words:
        german += word in _GERMAN
        english += word in _ENGLISH
    if german == english:
        return otherwise
    return "de" if german > english else "en"
