"""Which of the two languages a message is in, and a message without its courtesies."""

import re

from services.agent.builtin.domain import Lang

_GERMAN_WORDS = (
    "aber alle als am an auf aus bei bin bis bist bitte danke das dass dein deine dem den der des dich die dies diese dieser dir doch du durch ein eine "
    "einen einer eines er es für hab habe haben hallo hast hat hatte heute hilfe ich ihr im in ist ja jede jeden jeder jetzt kann kannst kein keine können "
    "könntest lektion mach mache machen man mein meine meinem meinen meiner mir mit morgen nach nein nicht noch nur nutze oder öffentlich schon sein sich "
    "sie sind so suche über um und uns unsere vergiss vom von vor war was wann warum weißt wenn wer werden wie wieviel wir wird wo wurde zeig zeige zu zum "
    "schick schicke sende antworte antwort markiere verschiebe leite weiter speichere anhang betreff gelesen ungelesen mailkonto zweite dritte erste letzte "
    "mich erinnere erinner erinnert weck wecke lade herunter gib entferne pausiere minuten stunden tagen wochen täglich montag dienstag mittwoch donnerstag freitag samstag sonntag "
    "zur merk merke merkt dir gelernt seite schlage lege erstelle werkzeug führe schreibe lies lösche verhalten erkenntnis erkenntnisse lektionen "
    "beobachtung gespräche gesprächen unterhaltungen dateien datei kosten ausgegeben übrig budget fasse zusammen tschüss moin servus grüß "
)
_GERMAN = frozenset(_GERMAN_WORDS.split())
_ENGLISH_WORDS = (
    "a about all always am an and any anything are as at be been behave behavior behaviour can change could create delete did do does done file files find "
    "follow for forget from had has have hello help hey hi how i if in is it its know learn learned left lesson lessons list make me memory money much my "
    "reply answer send move mark forward save attachment subject account second third latest unread "
    "no not note of off on or our page please propose public read recall remember run say search set show spend spent tell thank thanks that the them there "
    "remind every delete pause resume cancel minutes hours days weeks daily monday tuesday wednesday thursday friday saturday sunday "
    "they this to tool tools undo us use was we were what when which who why will with write yes you your "
)
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
MOST_COURTESIES = 5
_BOTH = _GERMAN & _ENGLISH
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"\S*[./@_]\w\S*")
"""A path or an address: its words are of no language."""
_COURTESY = re.compile(
    r"(?:(?:hey|hi|hello|hallo|ok|okay|so|well|nun|please|bitte|agent|assistant|(?:also|und|and)(?!\s+(?:at|um|on|am)\s))\b[\s,:!.-]*"
    r"|(?P<asked>(?:could|can|would|will) you (?:please |kindly )?"
    r"|(?:könntest|kannst|würdest|koenntest) du (?:mir |bitte |mal |mir bitte |mir mal |bitte mal )?)(?=\w)"
    r"|i (?:want|would like|'d like|need) you to |i'd like you to |ich (?:möchte|will|hätte gern),? dass du )",
    re.IGNORECASE,
)


def language(text: str, otherwise: Lang = "en") -> Lang:
    """By its common words; `otherwise` when they do not tell."""
    words = [each.casefold() for each in _WORD.findall(_NAME.sub(" ", text[:2000]))]
    german = sum(each in _GERMAN and each not in _BOTH for each in words) + 2 * bool(
        re.search("[äöüß]", text[:2000].casefold())
    )
    english = sum(each in _ENGLISH and each not in _BOTH for each in words)
    if german == english:
        return otherwise
    return "de" if german > english else "en"


def plain(text: str) -> str:
    """The message without greeting, please, and the white space around it; what it says is left as it was written."""
    found = text.strip()
    for _ in range(MOST_COURTESIES):
        courtesy = _COURTESY.match(found)
        if courtesy is None or courtesy.end() >= len(found):
            break
        found = found[courtesy.end() :].lstrip(" ,:")
        if courtesy["asked"]:  # “could you …?” is no question
            found = found.rstrip("? \n")
    return found
