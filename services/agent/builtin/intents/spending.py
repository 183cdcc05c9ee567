"""What was spent in the rolling day, and what is left (rule 1). The figures are the ledger's; unknown is said and never 0."""

import re
from typing import Any

from services.agent.builtin.domain import Scene, Taken
from services.agent.builtin.intent import phrases, uses

SPEND = phrases(
    r"(?:how much|what)(?: money)?(?: was| has been| is| have i| did i| have we| did we| did you| have you| have you been)? ?(?:spent|spend|used|left|the cost|the spend|my budget|the budget|my cap|the cap)(?: so far| today| already| of my budget| until now| and what is left| in the last 24 hours| is left)*[\s.!?]*",
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
    spent, reserved, cap, left = (value.get(each) for each in ("spent", "reserved", "cap", "left"))
    open_calls = reserved not in (None, "", "0", 0) and not re.fullmatch(r"0(\.0*)?", str(reserved))
    lines = [scene.say(f"In the last 24 hours {_money(scene, spent)} was spent", f"In den letzten 24 Stunden wurden {_money(scene, spent)} ausgegeben")]  # fmt: skip
    if open_calls:
        lines[0] += scene.say(f", and {_money(scene, reserved)} is reserved for calls that still run", f", und {_money(scene, reserved)} sind für laufende Aufrufe reserviert")  # fmt: skip
    lines[0] += "."
    if cap is None:
        lines.append(scene.say("There is no cap.", "Es gibt keine Grenze."))
    else:
        lines.append(scene.say(f"{_money(scene, left)} of your cap of {_money(scene, cap)} is left.", f"Von deiner Grenze von {_money(scene, cap)} sind {_money(scene, left)} übrig."))  # fmt: skip
    if value.get("frees_at"):
        lines.append(scene.say(f"{_money(scene, value.get('frees'))} of it frees up at {value['frees_at']}.", f"{_money(scene, value.get('frees'))} davon werden um {value['frees_at']} wieder frei."))  # fmt: skip
    return " ".join(lines)


def _money(scene: Scene, amount: Any) -> str:
    return scene.say("an unknown amount", "ein unbekannter Betrag") if amount is None else f"${amount}"


INTENTS = (uses("spend", "spend", SPEND, lambda _: {}, told),)
