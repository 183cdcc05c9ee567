"""How an intent is written: phrases of both languages, a tool, and what is said of what it brought."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from services.agent.builtin.domain import Intent, Result, Say, Scene, Step, Taken, Use

Arguments = Callable[[Taken], Mapping[str, Any]]
Answer = Callable[[Scene, Taken, Any], str]


def phrases(*patterns: str) -> tuple[re.Pattern[str], ...]:
    """Patterns that must fit the whole message but for its last mark; a blank stands for any white space."""
    return tuple(re.compile(each.replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL) for each in patterns)


def uses(name: str, tool: str, patterns: tuple[re.Pattern[str], ...], arguments: Arguments, answer: Answer) -> Intent:
    """An intent of one tool."""

    def act(scene: Scene, match: Taken) -> Step:
        return through(scene, tool, arguments(match), lambda value: Say(answer(scene, match, value)))

    return Intent(name, patterns, act, needs=(tool,))


def says(name: str, patterns: tuple[re.Pattern[str], ...], en: str, de: str) -> Intent:
    """An intent that needs no tool."""
    return Intent(name, patterns, lambda scene, _: Say(scene.say(en, de)))


def through(scene: Scene, tool: str, arguments: Mapping[str, Any], then: Callable[[Any], Step]) -> Step:
    """Run the tool if this role has it, then go on with what it brought."""
    if tool not in scene.offered:
        return lacks(scene)
    found = scene.result(tool)
    if found is None:
        return Use(((tool, arguments),))
    return Say(trouble(scene, found)) if found.trouble or found.card else then(found.value)


def lacks(scene: Scene) -> Say:
    """What a role may not use is not promised."""
    if scene.is_guest:
        return Say(
            scene.say(
                "As a guest you have nothing that is kept, so I can't do that. Sign in through the console; then I can, as far as your role allows it.",
                "Für Gäste wird nichts aufbewahrt, deshalb kann ich das nicht. Melde dich über die Konsole an; dann geht es, soweit deine Rolle es erlaubt.",
            )
        )
    return Say(
        scene.say(
            "I can't do that here: it needs a tool that your role does not have. An owner or admin can do it.",
            "Das kann ich hier nicht: Es braucht ein Werkzeug, das deine Rolle nicht hat. Ein Inhaber oder Admin kann es tun.",
        )
    )


def trouble(scene: Scene, found: Result) -> str:
    """Why it did not run, or what it waits for."""
    if found.card:
        return scene.say(
            f"This conversation has read text from outside, so that waits until a person has decided: {found.card}",
            f"Dieses Gespräch hat Text von außen gelesen, deshalb wartet das, bis ein Mensch entschieden hat: {found.card}",
        )
    return scene.say(f"That did not work: {found.trouble}", f"Das hat nicht geklappt: {found.trouble}")


def quoted(text: str, most: int = 200) -> str:
    """One line of somebody's text, cut to `most` characters, so that it reads as a quotation: no layout, and no link or picture of theirs."""
    line = " ".join(text.split()).replace("](", "] (").replace("][", "] [")
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def bullets(lines: list[str]) -> str:
    return "\n".join(f"- {each}" for each in lines)
