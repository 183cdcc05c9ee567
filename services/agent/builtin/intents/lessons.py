"""What was learnt: add a lesson, look for one, take one away."""

import re
from typing import Any

from services.agent.builtin.domain import Scene, Taken
from services.agent.builtin.intent import phrases, quoted, uses

FIELDS = {
    "observation": r"observation|observed|beobachtung|beobachtet",
    "conclusion": r"conclusion|so|therefore|schluss|fazit|folgerung|schlussfolgerung|also",
    "next_action": r"next(?: action| step| time)?|action|nächstes mal|nächster schritt|nächste aktion|maßnahme",
    "tags": r"tags?|schlagwort|schlagworte|stichworte|stichwörter",
}
ADD = phrases(
    r"(?:add|note|write down|keep|save|record|store)(?: a| this| the| new| the following)*? lesson(?: learned| learnt)?(?: that)?\s*[:,]?\s+(?P<what>.+)",
    r"(?:new )?lesson(?: learned| learnt)?\s*:\s*(?P<what>.+)",
    r"(?:i|we) (?:have )?(?:just )?learn(?:ed|t)(?: that)?\s*[:,]?\s+(?P<what>.+[^?\s])\s*",
    r"(?:notiere|notier|speichere|behalte|füge|schreib|schreibe|lege|merk dir|merke dir)(?: dir)?(?: bitte)?(?: diese| die| eine| als)?(?: neue| folgende)? (?:lektion|lehre|erkenntnis)(?: hinzu| auf| an| ab)?\s*[:,]?\s+(?:dass )?(?P<what>.+)",
    r"(?:neue )?(?:lektion|lehre|erkenntnis)\s*:\s*(?P<what>.+)",
    r"(?:ich habe|wir haben) (?:gerade |heute )?gelernt\s*[:,]?\s+(?:dass )?(?P<what>.+[^?\s])\s*",
    r"(?P<what>(?:observation|beobachtung)\s*:.+)",
)
SEARCH = phrases(
    r"(?:search|look|check|find)(?: through| in| for)?(?: my| our| the| all)? lessons?(?: learned| learnt)?(?: for| about| on| with)?\s*[:,]?\s+(?P<about>.+?)[\s.!?]*",
    r"(?:what|which|are there any|any|do we have any|show(?: me)?(?: the| my| our)?|list(?: the| my| our)?|find)(?: lessons?)(?: learned| learnt)?(?: do we have| are there| did we learn)?(?: about| on| for| with| regarding) (?P<about>.+?)[\s.!?]*",
    r"what (?:did|have) (?:we|i|you) (?:already )?learn(?:ed|t)? (?:about|on|from|regarding) (?P<about>.+?)[\s.!?]*",
    r"(?:suche|such|schau|sieh|durchsuche)(?: in| nach)?(?: den| meinen| unseren| die| meine| unsere)? (?:lektionen|lehren|erkenntnissen|erkenntnisse)(?: nach| zu| über| zum thema)?\s*[:,]?\s+(?P<about>.+?)(?: nach)?[\s.!?]*",
    r"was (?:haben wir|habe ich|hast du) (?:schon )?(?:über|zu|aus|von|zum thema) (?P<about>.+?) gelernt[\s.!?]*",
    r"(?:welche|gibt es|zeig|zeige)(?: mir)?(?: die| meine| unsere)? (?:lektionen|lehren|erkenntnisse)(?: gibt es| haben wir| habe ich)? (?:zu|über|zum thema) (?P<about>.+?)[\s.!?]*",
)
LIST = phrases(
    r"(?:show|list|read|what are|which are)(?: me)?(?: all)?(?: my| our| the| all)? lessons(?: learned| learnt)?[\s.!?]*",
    r"what (?:did|have) (?:we|i|you) learn(?:ed|t)?(?: so far)?[\s.!?]*",
    r"(?:zeig|zeige|liste)(?: mir)?(?: alle)?(?: meine| unsere| die)? (?:lektionen|lehren|erkenntnisse)(?: auf| an)?[\s.!?]*",
    r"was (?:haben wir|habe ich|hast du)(?: bisher| schon)? gelernt[\s.!?]*",
)
DROP = phrases(
    r"(?:delete|remove|drop|forget|take back)(?: the)? lesson (?:number |no\.? |#)?(?P<id>[0-9]+)[\s.!]*",
    r"(?:lösche|entferne|vergiss|streiche)(?: die)? (?:lektion|lehre|erkenntnis) (?:nummer |nr\.? |#)?(?P<id>[0-9]+)[\s.!]*",
)
_MARK = re.compile(rf"(?:^|[\n;,.]|\s)\s*(?P<name>{'|'.join(FIELDS.values())})\s*:\s*", re.IGNORECASE)


def fields(text: str) -> dict[str, Any]:
    """The parts of a lesson as they were named; without names `=>` or `->` parts them, and a text alone is an observation."""
    marks = list(_MARK.finditer(text))
    if not marks:
        parts = [each.strip() for each in re.split(r"\s*(?:=>|->|→)\s*", text)]
        return {name: part for name, part in zip(FIELDS, parts, strict=False) if name != "tags" and part}
    found: dict[str, Any] = {}
    if text[: marks[0].start()].strip():
        found["observation"] = text[: marks[0].start()].strip(" \n,;")
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        name = next(field for field, words in FIELDS.items() if re.fullmatch(words, mark["name"], re.IGNORECASE))
        found[name] = text[mark.end() : after.start() if after else None].strip(" \n,;")
    if "tags" in found:
        found["tags"] = [each for part in re.split("[,;#\\s]+", found["tags"]) if (each := part.strip(" ."))]
    found.setdefault("observation", found.get("conclusion", ""))
    return found


def shown(lesson: dict[str, Any]) -> str:
    line = quoted(str(lesson.get("observation", "")))
    for mark, key in (("→", "conclusion"), ("⇒", "next_action")):
        line += f" {mark} {quoted(str(lesson[key]))}" if lesson.get(key) else ""
    tags = " ".join(f"#{each}" for each in lesson.get("tags") or ())
    return f"- {lesson.get('lesson_id')}. {line}" + (f" ({tags})" if tags else "")


def found(scene: Scene, match: Taken, value: Any) -> str:
    lessons = value.get("lessons", []) if isinstance(value, dict) else value
    if not lessons:
        return scene.say("There is no lesson about that yet.", "Dazu gibt es noch keine Lektion.")
    head = scene.say("This was learnt:", "Das wurde gelernt:")
    return head + "\n\n" + "\n".join(shown(each) for each in lessons)


def added(scene: Scene, _: Taken, value: Any) -> str:
    number = value.get("lesson_id") if isinstance(value, dict) else value
    return scene.say(f"Noted as lesson {number}.", f"Als Lektion {number} festgehalten.")


def dropped(scene: Scene, match: Taken, _: Any) -> str:
    return scene.say(f"Lesson {match['id']} is gone.", f"Lektion {match['id']} ist gelöscht.")


INTENTS = (
    uses("search_lessons", "search_lessons", SEARCH, lambda match: {"words": match["about"]}, found),
    uses("list_lessons", "list_lessons", LIST, lambda _: {}, found),
    uses("drop_lesson", "drop_lesson", DROP, lambda match: {"lesson_id": int(match["id"])}, dropped),
    uses("add_lesson", "add_lesson", ADD, lambda match: fields(match["what"].strip()), added),
)
