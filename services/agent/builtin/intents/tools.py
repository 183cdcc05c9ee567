"""Virtual tools: a stored request under a name. Make, list, switch, run, delete."""

from typing import Any

from services.agent.builtin.domain import Scene, Taken
from services.agent.builtin.intent import phrases, quoted, uses

_NAME = r"[\"'“„‚‘`]?(?P<name>[\w-]{1,64}?)[\"'”“’‘`]?"
_TOOL = r"(?: the| my| your| a| virtual)*(?: tool| command)?"
_WERKZEUG = r"(?: das| mein| dein| ein| virtuelle| virtuelles)*(?: werkzeug| tool| befehl)?"
MAKE = phrases(
    rf"(?:make|create|build|define|add)(?: me)?(?: a| the| new| virtual)*? (?:tool|command)(?: called| named)? {_NAME}(?:\s*[:,]\s*| that | which | to )(?P<prompt>.+)",
    rf"(?:erstelle|erstell|mach|mache|baue|bau|lege|leg|definiere)(?: mir)?(?: bitte)?(?: ein| das| neues| virtuelles)*? (?:werkzeug|tool|befehl)(?: namens| mit dem namen)? {_NAME}(?: an)?(?:\s*[:,]\s*(?:das )?| das )(?P<prompt>.+)",
)
LIST = phrases(
    r"(?:show|list|what are|which are)(?: me)?(?: all)?(?: of)?(?: my| our| the)? (?:virtual |own )?tools[\s.!?]*",
    r"(?:which|what)(?: virtual| own)? tools (?:do i have|have i made|are there|did i make)[\s.!?]*",
    r"(?:zeig|zeige|liste)(?: mir)?(?: alle)?(?: meine| die)? (?:virtuellen |eigenen )?werkzeuge(?: auf| an)?[\s.!?]*",
    r"welche (?:virtuellen |eigenen )?werkzeuge (?:habe ich|gibt es)(?: gemacht| angelegt)?[\s.!?]*",
)
SWITCH = phrases(
    rf"(?P<off>disable|switch off|turn off){_TOOL} {_NAME}[\s.!]*",
    rf"(?:switch|turn){_TOOL} {_NAME} (?:(?P<off>off)|on)[\s.!]*",
    rf"(?:enable|switch on|turn on){_TOOL} {_NAME}[\s.!]*",
    rf"(?:schalte|schalt|stelle|stell)(?: bitte)?{_WERKZEUG} {_NAME} (?:(?P<off>aus|ab)|ein|an)[\s.!]*",
    rf"(?P<off>deaktiviere){_WERKZEUG} {_NAME}[\s.!]*",
    rf"aktiviere{_WERKZEUG} {_NAME}[\s.!]*",
)
DELETE = phrases(
    rf"(?:delete|remove|drop)(?: the| my| virtual)* (?:tool|command) {_NAME}[\s.!]*",
    rf"(?:lösche|entferne)(?: bitte)?(?: das| mein| virtuelle)* (?:werkzeug|tool|befehl) {_NAME}[\s.!]*",
)
RUN = phrases(
    rf"(?:run|use|start|call|execute)(?: the| my| virtual)*(?: tool| command) {_NAME}(?:\s*:\s*| with(?: the input)?:? | on | for | about )(?P<input>.+)",
    rf"(?:run|start|execute) {_NAME}(?:\s*:\s*| with(?: the input)?:? | on | for | about )(?P<input>.+)",
    rf"(?:run|use|start|call|execute)(?: the| my| virtual)*(?: tool| command) {_NAME}[\s.!]*",
    rf"(?:run|execute) {_NAME}[\s.!]*",
    rf"(?:nutze|nutz|benutze|verwende|starte|rufe)(?: bitte)?(?: das| mein| virtuelle)* (?:werkzeug|tool|befehl) {_NAME}(?: auf| aus)?(?:\s*:\s*| mit(?: der eingabe)?:? | auf | für | zu | über )(?P<input>.+)",
    rf"(?:führe|führ)(?: bitte)?{_WERKZEUG} {_NAME}(?: aus)?(?:\s*:\s*| mit(?: der eingabe)?:? | auf | für | zu | über )(?P<input>.+?)(?: aus)?[\s.!]*",
    rf"(?:nutze|nutz|benutze|verwende|starte)(?: bitte)?(?: das| mein| virtuelle)* (?:werkzeug|tool|befehl) {_NAME}[\s.!]*",
    rf"(?:führe|führ)(?: bitte)?{_WERKZEUG} {_NAME} aus[\s.!]*",
)


def name_of(match: Taken) -> str:
    return match["name"].casefold().replace("-", "_")


def _made(match: Taken) -> dict[str, Any]:
    prompt = match["prompt"].strip()
    return {"name": name_of(match), "description": quoted(prompt), "prompt": prompt, "input_hint": ""}


def made(scene: Scene, match: Taken, value: dict[str, Any]) -> str:
    name = value["name"]
    return scene.say(
        f"The tool “{name}” is ready. Say “run {name} with …”; “disable {name}” switches it off.",
        f"Das Werkzeug „{name}“ ist da. Sage „führe {name} aus mit …“; „deaktiviere {name}“ schaltet es ab.",
    )


def listed(scene: Scene, _: Taken, value: dict[str, Any]) -> str:
    if not value["tools"]:
        return scene.say("You have made no tools yet. Say “make a tool NAME: what it does with {input}”.", "Du hast noch keine Werkzeuge angelegt. Sage „erstelle ein Werkzeug NAME: was es mit {input} tut“.")  # fmt: skip
    off = scene.say(" (off)", " (aus)")
    lines = [
        f"- **{each['name']}**: {quoted(each['description'])}{'' if each['enabled'] else off}"
        for each in value["tools"]
    ]
    return scene.say("Your tools:", "Deine Werkzeuge:") + "\n\n" + "\n".join(lines)


def switched(scene: Scene, match: Taken, value: dict[str, Any]) -> str:
    name = value["name"]
    if value["enabled"]:
        return scene.say(f"The tool “{name}” is on.", f"Das Werkzeug „{name}“ ist eingeschaltet.")
    return scene.say(f"The tool “{name}” is off.", f"Das Werkzeug „{name}“ ist ausgeschaltet.")


def deleted(scene: Scene, match: Taken, _: Any) -> str:
    return scene.say(f"The tool “{name_of(match)}” is gone.", f"Das Werkzeug „{name_of(match)}“ ist gelöscht.")


INTENTS = (
    uses("make_tool", "make_tool", MAKE, _made, made),
    uses("list_tools", "list_tools", LIST, lambda _: {}, listed),
    uses(
        "switch_tool",
        "switch_tool",
        SWITCH,
        lambda match: {"name": name_of(match), "enabled": not match["off"]},
        switched,
    ),
    uses("delete_tool", "delete_tool", DELETE, lambda match: {"name": name_of(match)}, deleted),
    uses(
        "run_tool",
        "run_tool",
        RUN,
        lambda match: {"name": name_of(match), "input": match["input"].strip()},
        lambda scene, match, value: str(value["result"]),
    ),
)
