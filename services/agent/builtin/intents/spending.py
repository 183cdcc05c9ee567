"""What was spent in the rolling day, and what is left (rule 1). The figures are the ledger's; unknown is said and never 0."""

import re
from decimal import Decimal
from typing import Any

from services.agent.builtin.domain import Scene, Taken
from services.agent.builtin.intent import phrases, uses

NOTHING = re.compile(r"0(\.0*)?")
SPEND = phrases(
    r"(?:how much|what)(?: money)?(?: was| has been| is| have i| did i| have we| did we| did you| have you| have you been)? ?(?:spent|spend|used|left|the cost|the spend|my budget|the budget|my cap|the cap)(?: so far| today| already| of my budget| until now| and what is left| in the last 24 hours| is left)*[\s.!?]*",
    r"tell me (?:how much|what) (?:i|we)(?: have)? (?:spent|used)(?: so far| today)?[\s.!?]*",
    r"(?:sag|sage) mir,? (?:wie viel|wieviel|was)(?: heute| bisher)? (?:ausgegeben|verbraucht) (?:wurde|ist|worden ist)[\s.!?]*",
    r"(?:how much|what)(?: money| budget| is| of the budget)?(?: is| do i have| do we have)?(?: still)? left(?: today| of my budget| of the budget| to spend)?[\s.!?]*",
    r"(?:what|how much) (?:was|has been|have (?:i|we)|did (?:i|we)) spen[dt](?: so far| today)?,? and (?:what|how much)(?: is|['’]s)?(?: still)? left[\s.!?]*",
    r"(?:how much|what) (?:did|does|do|has|have) (?:this|that|it|today|you|we|i)(?: all| chat| conversation)? cost(?: me| us| so far| today)*[\s.!?]*",
    r"what(?:['’]s| is)(?: still)? (?:left|remaining)(?: of| from| in)?(?: my| the| our)?(?: budget| cap| money)?[\s.!?]*",
    r"(?:how (?:high|much)|what) is(?: my| the| our) (?:cap|budget|limit)[\s.!?]*",
    r"(?:wie hoch|was|wie viel|wieviel) ist(?: meine| die| unsere| mein| das)? (?:grenze|ausgabengrenze|kostengrenze|budget|limit)[\s.!?]*",
    r"(?:show|tell)(?: me)?(?: my| the| our)? (?:spend(?:ing)?|costs?|budget|cap|expenses)(?: so far| today)?[\s.!?]*",
    r"(?:my |the |our )?(?:spend(?:ing)?|costs?|budget|cap)(?: so far| today| left)?[\s.!?]*",
    r"(?:wie viel|wieviel|was)(?: geld)?(?: wurde| habe ich| haben wir| hast du| ist)?(?: heute| bisher| schon| bis jetzt)* (?:ausgegeben|verbraucht)(?: worden)?(?:,? und (?:wie viel|wieviel|was) (?:ist|bleibt)(?: noch)?(?: übrig)?)?[\s.!?]*",
    r"(?:wie viel|wieviel|was)(?: geld| budget)? (?:ist|bleibt|habe ich|haben wir)(?: mir| uns| heute)?(?: noch)?(?: vom budget)?(?: übrig)?[\s.!?]*",
    r"(?:was|wie viel|wieviel) (?:hat|haben|kostet|kosten)(?: das| es| wir| dieses gespräch| der tag)?(?: heute| bisher| alles)*(?: gekostet)?[\s.!?]*",
    r"(?:zeig|zeige|nenne)(?: mir)?(?: bitte)?(?: die| meine| unsere| das| mein)? (?:kosten|ausgaben|budget)(?: von heute| bisher)?[\s.!?]*",
    r"(?:die |meine |unsere |mein |das )?(?:kosten|ausgaben|budget)(?: heute| bisher)?[\s.!?]*",
)


def told(scene: Scene, _: Taken, value: dict[str, Any]) -> str:
    """Spent, reserved, left, and when something frees up."""
    return " ".join(each for each in (_spent(scene, value), _left(scene, value), _frees(scene, value)) if each)


def _spent(scene: Scene, value: dict[str, Any]) -> str:
    spent, reserved = _money(scene, value.get("spent")), value.get("reserved")
    said = scene.say(f"In the last 24 hours {spent} was spent", f"In den letzten 24 Stunden wurden {spent} ausgegeben")
    if reserved and not NOTHING.fullmatch(str(reserved)):
        said += scene.say(f", and {_money(scene, reserved)} is reserved for calls that still run", f", und {_money(scene, reserved)} sind für laufende Aufrufe reserviert")  # fmt: skip
    unknown = value.get("calls_of_unknown_cost")
    if unknown:
        said += scene.say(f" (not counting {unknown} calls whose cost is not known)", f" (ohne {unknown} Aufrufe, deren Kosten nicht bekannt sind)")  # fmt: skip
    return f"{said}."


def _left(scene: Scene, value: dict[str, Any]) -> str:
    if value.get("cap") is None:
        return scene.say("There is no cap.", "Es gibt keine Grenze.")
    left, cap = _money(scene, value.get("left")), _money(scene, value["cap"])
    if scene.is_guest:
        return scene.say(f"{left} of the cap of {cap} of all guests together is left.", f"Von der Grenze von {cap} für alle Gäste zusammen sind {left} übrig.")  # fmt: skip
    return scene.say(f"{left} of your cap of {cap} is left.", f"Von deiner Grenze von {cap} sind {left} übrig.")


def _frees(scene: Scene, value: dict[str, Any]) -> str:
    if not value.get("frees_at"):
        return ""
    frees, at = _money(scene, value.get("frees")), str(value["frees_at"]).replace("T", " ")
    return scene.say(f"{frees} of it frees up at {at}.", f"{frees} davon werden um {at} wieder frei.")


def _money(scene: Scene, amount: Any) -> str:
    """Every digit that says something, two behind the point at least: $0.00, $3.75, $0.00000004."""
    if amount is None:
        return scene.say("an unknown amount", "ein unbekannter Betrag")
    whole, _, rest = f"{Decimal(str(amount)):f}".partition(".")
    return f"${whole}.{rest.rstrip('0').ljust(2, '0')}"


INTENTS = (uses("spend", "spend", SPEND, lambda _: {}, told),)
