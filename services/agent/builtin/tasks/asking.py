"""A message that asks for a reminder or an automation, as its time and what it is about. The tools understand the time; here it is only found."""

import re
from dataclasses import dataclass

from services.agent.builtin.domain import HEAD, Intent, Scene, Taken
from services.agent.builtin.tasks.phrases import DO, INFINITIVE, NO_REMINDER, ORDERS, REMIND, TIMER
from shared.schedules.words import find_schedule, recurs

_AUTOMATE = re.compile(
    r"(?:automate(?: this)?|automation|schedule(?: this)?|(?:make|create|set up|add)(?: me)?(?: an?| a new)? (?:automation|scheduled task|job)(?: that| which| to)?|automatisiere|"
    r"(?:erstelle|lege|mach|mache|richte)(?: mir)? (?:eine )?(?:neue )?(?:automation|automatisierung)(?: an| ein)?(?:,? die| dass| um)?|plane)\s*[:,]?\s+",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"(?:\b(?:for|about|with|after|named|called|titled|tool|werkzeug|file|datei|nach|über|zu|zum|mit|namens|für)|[:“„\"])\s*$",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"schedule|plane", re.IGNORECASE)
_INFINITIVE = re.compile(r"mich\s+(?P<rest>.+?)(?:,? zu)? erinnern[\s.?!]*", re.IGNORECASE | re.DOTALL)
_NO_MORE = re.compile(r"\s+(?:nicht mehr|nie|no more)\b", re.IGNORECASE)
MOST_TEXT = 4000


@dataclass(frozen=True)
class Asking(Intent):
    """An intent whose message is looked at by more than a pattern."""

    def match(self, text: str) -> Taken | None:
        parts = reminder_parts(text) if self.name == "create_reminder" else automation_parts(text)
        return None if parts is None else Taken({"when": parts[0], "what": parts[1]})


def reminder_parts(text: str) -> tuple[str, str] | None:
    """When and of what; either may be empty. None for a message that asks for no reminder."""
    if timer := TIMER.fullmatch(text[:HEAD]):
        return f"in {timer['length'].removeprefix('in ')}", "Timer"
    if infinitive := _INFINITIVE.fullmatch(text[:HEAD]):
        text = f"erinnere mich {infinitive['rest']}"
    found = REMIND.search(text[:HEAD])
    if found is None or _NO_MORE.match(text, found.end()):
        return None
    head = text[: found.start()].strip(" ,:–-")
    if head and find_schedule(head)[1].strip(" ,.:"):
        return None
    when, what = find_schedule(f"{head} {text[found.end() :]}".strip())
    if not when and NO_REMINDER.fullmatch(text[:HEAD]):
        return None
    return when, what.strip(" .,:;\n")


def automation_parts(text: str) -> tuple[str, str] | None:
    """When and what to do; the time recurs, or stands before what the agent is told to do. None for anything else."""
    asked = _AUTOMATE.match(text[:HEAD])
    body = text[asked.end() :] if asked else text
    if len(body) > MOST_TEXT * 4 or REMIND.search(body[:HEAD]):
        return None
    when, what = find_schedule(body)
    if not when or not what:
        return None
    what = imperative(what)
    if asked and (DO.match(what) or not _PLAIN.match(asked[0])):
        return when, what
    first = body.lstrip().casefold().startswith(when.casefold()[:20])
    if first:
        return (when, what) if DO.match(what) or INFINITIVE.fullmatch(what) else None
    place = body.casefold().find(when.casefold())
    fits = (
        DO.match(body) and place > 0 and not _QUOTED.search(body[:place]) and ":" not in body[:place] and recurs(when)
    )
    return (when, what) if fits else None


def imperative(what: str) -> str:
    """ "Meine Mails zusammenfassen" as an order: "fasse meine Mails zusammen"; anything else as it is."""
    found = INFINITIVE.fullmatch(what)
    verb = ORDERS.get(found["verb"].casefold()) if found else None
    return f"{verb[0]} {found['what'].strip()}{verb[1]}" if found and verb else what


def earlier_reminder(scene: Scene) -> tuple[str, str] | None:
    """What was asked for before, when its time or its text was missing or not understood."""
    return next((found for said in scene.earlier if (found := reminder_parts(said)) is not None), None)


def earlier_automation(scene: Scene) -> tuple[str, str] | None:
    return next((found for said in scene.earlier if (found := automation_parts(said)) is not None), None)
