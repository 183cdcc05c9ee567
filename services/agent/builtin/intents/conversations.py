"""Search in one's own conversations."""

from typing import Any

from services.agent.builtin.domain import Scene, Taken
from services.agent.builtin.intent import phrases, quoted, uses

_OURS = r"(?: my| our| the| all| old| past| earlier| previous)*"
SEARCH = phrases(
    rf"(?:search|look|check)(?: through| in)?{_OURS} (?:conversations?|chats?|messages|history)(?: for| about)?\s*[:,]?\s+(?P<words>.+?)[\s.!?]*",
    rf"(?:find|search for|look for) (?P<words>.+?) in{_OURS} (?:conversations?|chats?|messages|history)[\s.!?]*",
    r"(?:did|have) (?:we|i) (?:ever )?(?:talk(?:ed)?|speak|spoken|chat(?:ted)?|discuss(?:ed)?|mention(?:ed)?|sa(?:y|id)(?: anything)?)(?: about| of| to you about)? (?P<words>.+?)(?: before| already)?[\s.!?]*",
    r"(?:when|where|what) did (?:we|i) (?:talk|speak|discuss|mention|say)(?: about| of)? (?P<words>.+?)[\s.!?]*",
    r"(?:suche|such|durchsuche|schau|sieh)(?: in)?(?: meinen| unseren| den| meine| unsere| alten| früheren)* (?:gesprächen?|unterhaltungen|chats?|nachrichten|verlauf)(?: nach| zu)?\s*[:,]?\s+(?P<words>.+?)(?: nach)?[\s.!?]*",
    r"(?:finde|suche) (?P<words>.+?) in(?: meinen| unseren| den| alten| früheren)* (?:gesprächen|unterhaltungen|chats|nachrichten)[\s.!?]*",
    r"(?:haben wir|habe ich)(?: schon| je| jemals)*(?: mal| einmal)? (?:über|von) (?P<words>.+?) (?:gesprochen|geredet|gesagt|geschrieben)[\s.!?]*",
    r"(?:wann|wo) (?:haben wir|habe ich)(?: über| von)? (?P<words>.+?) (?:gesprochen|geredet|erwähnt|gesagt|geschrieben)[\s.!?]*",
)


def found(scene: Scene, match: Taken, value: Any) -> str:
    hits = value.get("found", []) if isinstance(value, dict) else value
    if not hits:
        return scene.say("I found nothing about that in your conversations.", "Dazu habe ich in deinen Gesprächen nichts gefunden.")  # fmt: skip
    lines = [f"- {hit_of(each)}" for each in hits[:10]]
    return scene.say("In your conversations:", "In deinen Gesprächen:") + "\n\n" + "\n".join(lines)


def hit_of(hit: dict[str, Any]) -> str:
    day = str(hit.get("at", ""))[:10]
    return f"{day} **{quoted(str(hit.get('title') or '…'), 60)}**: {quoted(str(hit.get('text', '')))}"


INTENTS = (
    uses("search_conversations", "search_conversations", SEARCH, lambda match: {"words": match["words"]}, found),
)
