"""What the built-in model does with a scene: the first intent that fits, else a polite word on what it can do."""

from dataclasses import replace

from services.agent.builtin.domain import Intent, Scene, Step
from services.agent.builtin.intents import INTENTS
from services.agent.builtin.language import plain
from services.agent.builtin.talk import unknown


def decide(scene: Scene) -> Step:
    """The next step of this turn."""
    scene = replace(scene, text=plain(scene.text))
    for intent in INTENTS:
        match = intent.match(scene.text) if intent.when(scene) else None
        if match is not None:
            return intent.act(scene, match)
    return unknown(scene)


def understood(text: str) -> Intent | None:
    """Which intent a message is taken for that nothing was said before."""
    found = plain(text)
    alone = Scene(found, "en", frozenset())
    return next((each for each in INTENTS if each.when(alone) and each.match(found)), None)
