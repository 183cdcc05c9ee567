"""An automation is asked for with its exact words, and waits for a person (rule 28)."""

from typing import Any

from schemas.agency import AUTOMATE
from services.agent.builtin.domain import Say, Scene, Step, Taken
from services.agent.builtin.intent import bullets, lacks, quoted, through
from services.agent.builtin.tasks.asking import earlier_automation
from services.agent.builtin.tasks.phrases import READS
from services.agent.builtin.tasks.telling import HINT_DE, HINT_EN
from shared.clock import now
from shared.errors import Refused
from shared.schedules.domain import Cron, Wall
from shared.schedules.words import opened, understand


def automate(scene: Scene, match: Taken) -> Step:
    return _automate(scene, match["when"], match["what"])


def _automate(scene: Scene, when: str, what: str) -> Step:
    if AUTOMATE not in scene.offered:
        return lacks(scene)
    found = scene.result(AUTOMATE)
    if found is None or not found.card:
        arguments = {
            "title": quoted(what, 80),
            "when": when,
            "instruction": what,
            "reads": bool(READS.search(what)),
        }
        return through(scene, AUTOMATE, arguments, lambda _: Say(scene.say("It is set up.", "Sie ist eingerichtet.")))
    return Say(_waits(scene, found.value if isinstance(found.value, dict) else {}, found.card))


def _waits(scene: Scene, value: dict[str, Any], card: str) -> str:
    """What was understood and when it would run; nothing runs before a person has allowed it."""
    exact = value.get("asks_for")
    exact = exact if isinstance(exact, dict) else {}
    head = scene.say(
        f"Whatever works by itself, an owner or admin decides on first: {card}",
        f"Was von selbst arbeitet, entscheidet zuerst ein Inhaber oder Admin: {card}",
    )
    what = scene.say(
        f"Asked for: “{quoted(str(exact.get('instruction', '')), 300)}” – {quoted(str(exact.get('words', '')), 400)} ({exact.get('zone')}).",
        f"Beantragt: „{quoted(str(exact.get('instruction', '')), 300)}“ – {quoted(str(exact.get('words', '')), 400)} ({exact.get('zone')}).",
    )
    lines = [quoted(str(each), 120) for each in exact.get("next", [])]
    times = scene.say("It would run at:", "Sie liefe:") + "\n\n" + bullets(lines) if lines else ""
    hint = scene.say(HINT_EN, HINT_DE)
    return "\n\n".join(each for each in (head, what if exact else "", times, hint if exact else "") if each)


def automate_anew(scene: Scene, text: str) -> Step:
    """The same with another time: a card of its own."""
    known = earlier_automation(scene)
    if known is None:
        return Say(scene.say("Say the whole of it again, please.", "Sage es bitte noch einmal ganz."))
    try:
        at = now()
        found = understand(text, "UTC", at, understand(known[0], "UTC", at))
        # days and times of the wall clock are said without a zone; elapsed time is said anew
        when = found.words if isinstance(found.rule, Wall | Cron) else opened(text)
    except Refused:
        when = text
    step = _automate(scene, when, known[1])
    if isinstance(step, Say) and scene.past[0].card:
        old = scene.past[0].card
        return Say(f"{step.text}\n\n" + scene.say(f"What was asked for before still waits, too; a person can refuse it: {old}", f"Was vorher beantragt war, wartet auch noch; ein Mensch kann es ablehnen: {old}"))  # fmt: skip
    return step
