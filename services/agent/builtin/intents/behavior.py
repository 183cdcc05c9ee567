"""How the owner wants the agent to be: change it, see it, take a change back."""

from typing import Any

from services.agent.builtin.domain import Scene, Taken
from services.agent.builtin.intent import phrases, uses

CHANGE = phrases(
    r"(?:from now on|in (?:the )?future|henceforth)\s*[:,]?\s+(?P<text>.+)",
    r"(?P<text>(?:always|never)(?! mind) .+[^?\s])\s*",
    r"(?P<text>(?:call|address) me .+[^?\s])\s*",
    r"(?:change|set|update)(?: your| my| the)? behaviou?r(?: to)?\s*[:,]?\s+(?:to )?(?P<text>.+)",
    r"behave(?: like this| so)?\s*[:,]\s*(?P<text>.+)",
    r"(?:ab jetzt|ab sofort|von jetzt an|von nun an|in zukunft|künftig|zukünftig)\s*[:,]?\s+(?P<text>.+)",
    r"(?P<text>(?:nenn|nenne|sprich|rede) mich .+[^?\s])\s*",
    r"(?P<text>(?:antworte|schreib|schreibe|sprich|sei|verwende|benutze|nutze) (?:mir )?(?:immer|nie|niemals|stets) .+[^?\s])\s*",
    r"(?P<text>(?:immer|nie|niemals|stets)(?! (?:noch|mehr|wieder)\b) .+[^?\s])\s*",
    r"(?:ändere|änder|setze|setz)(?: bitte)?(?: dein| das) verhalten(?: auf| zu| so| in)?\s*[:,]?\s+(?P<text>.+)",
    r"verhalte dich(?: bitte)?(?: so)?\s*[:,]?\s+(?P<text>.+)",
)
SHOW = phrases(
    r"(?:show|read|list)(?: me)?(?: your| my| the) behaviou?r[\s.!?]*",
    r"(?:what(?:['’]s| is)(?: your| my| the) behaviou?r|how (?:do|should) you behave|how did i ask you to behave)[\s.!?]*",
    r"(?:zeig|zeige|lies)(?: mir)?(?: bitte)?(?: dein| das| mein) verhalten(?: vor| an)?[\s.!?]*",
    r"(?:was ist dein verhalten|wie (?:sollst|verhältst) du dich(?: verhalten)?|wie lautet dein verhalten)[\s.!?]*",
)
UNDO = phrases(
    r"(?:undo|revert|take back|roll back)(?: the| my| your| that)?(?: last| latest)?(?: change (?:of|to|in) (?:the |your |my )?behaviou?r| behaviou?r(?: change)?)[\s.!?]*",
    r"(?:go back to|restore)(?: your| the| my)? (?:previous|earlier|old|last) behaviou?r[\s.!?]*",
    r"(?:mach|mache|nimm)(?: bitte)?(?: die| deine)?(?: letzte)? (?:verhaltensänderung|änderung (?:des|deines) verhaltens) (?:rückgängig|zurück)[\s.!?]*",
    r"(?:setz|setze|stell|stelle)(?: bitte)?(?: dein| das) (?:alte |vorherige |frühere )?verhalten (?:zurück|wieder her)[\s.!?]*",
    r"(?:zurück zum|stelle das) (?:alten|vorherigen|alte|vorherige) verhalten(?: wieder her)?[\s.!?]*",
)


def changed(scene: Scene, _: Taken, value: dict[str, Any]) -> str:
    return scene.say(
        f"From now on so (version {value['version']}; “undo behavior” takes it back):\n\n{_block(value['text'])}",
        f"Ab jetzt so (Version {value['version']}; „Mach die Verhaltensänderung rückgängig“ nimmt es zurück):\n\n{_block(value['text'])}",
    )


def shown(scene: Scene, _: Taken, value: dict[str, Any]) -> str:
    if not value["text"]:
        return scene.say("You have not told me to behave in any special way.", "Du hast mir kein besonderes Verhalten aufgetragen.")  # fmt: skip
    return scene.say("This is how you want me to be", "So willst du mich haben") + f" ({scene.say('version', 'Version')} {value['version']}):\n\n{_block(value['text'])}"  # fmt: skip


def undone(scene: Scene, match: Taken, value: dict[str, Any]) -> str:
    head = scene.say("Taken back.", "Zurückgenommen.")
    return f"{head} {shown(scene, match, value)}"


def _block(text: str) -> str:
    return "\n".join(f"> {each}" for each in text.splitlines())


INTENTS = (
    uses("show_behavior", "show_behavior", SHOW, lambda _: {}, shown),
    uses("undo_behavior", "undo_behavior", UNDO, lambda _: {}, undone),
    uses(
        "update_behavior",
        "update_behavior",
        CHANGE,
        lambda match: {"text": match["text"].strip(), "add": True},
        changed,
    ),
)
