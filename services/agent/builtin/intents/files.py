"""Files of the owner's workspace, and its progress."""

import re
from typing import Any

from services.agent.builtin.domain import Scene, Taken
from services.agent.builtin.intent import phrases, quoted, uses

_FILE = r"[\"'“„`]?(?P<name>[^\s\"'“”„`:][^\n\"“”„`:]*?)[\"'”“`]?"
_AROUND = re.compile(r"([\"“„])([^\"“”„]+)[\"”“]", re.DOTALL)
LIST = phrases(
    r"(?:list|show|what are|which are)(?: me)?(?: all)?(?: my| the| our)? files(?: in (?:my|the) workspace)?[\s.!?]*",
    r"(?:which|what) files (?:do i have|are there)[\s.!?]*",
    r"(?:zeig|zeige|liste)(?: mir)?(?: alle)?(?: meine| die)? dateien(?: auf| an)?[\s.!?]*",
    r"welche dateien (?:habe ich|gibt es)[\s.!?]*",
)
WRITE = phrases(
    rf"(?:write|save|create|put)(?: a| the| new)*(?: file)(?: called| named)? {_FILE}(?: with(?: the text)?\s*:?\s+|\s*:\s*)(?P<text>.+)",
    rf"(?:schreib|schreibe|speichere|erstelle|lege)(?: bitte)?(?: eine| die| neue)*(?: datei)(?: namens)? {_FILE}(?: an)?(?: mit(?: dem text)?\s*:?\s+|\s*:\s*)(?P<text>.+)",
)
READ = phrases(
    rf"what(?:['’]s| is| stands) in(?: the| my)? file {_FILE}[\s.!?]*",
    rf"was steht in(?: der| meiner)? datei {_FILE}[\s.!?]*",
    r"(?:read|show|open|lies|zeig|zeige|öffne)(?: me| mir)?(?: bitte)? (?P<name>[\w./-]*\w(?: \(\d{1,3}\))?\.[a-z]{1,5})[\s.!?]*",
    rf"(?:read|show|open)(?: me)?(?: the| my)? file {_FILE}[\s.!?]*",
    rf"(?:lies|zeig|zeige|öffne)(?: mir)?(?: bitte)?(?: die| meine)? datei {_FILE}(?: vor| an)?[\s.!?]*",
)


def listed(scene: Scene, _: Taken, value: Any) -> str:
    files = value.get("files", []) if isinstance(value, dict) else value
    if not files:
        return scene.say(
            "There are no files in your workspace yet.", "In deinem Arbeitsbereich sind noch keine Dateien."
        )
    names = [str(each.get("name", each)) if isinstance(each, dict) else str(each) for each in files]
    return scene.say("Your files:", "Deine Dateien:") + "\n\n" + "\n".join(f"- `{each}`" for each in names)


def unquoted(text: str) -> str:
    """Without the quotes around all of it, which only say where it begins and ends."""
    found = _AROUND.fullmatch(text.strip())
    return found[2] if found else text


def written(scene: Scene, match: Taken, value: Any) -> str:
    name = value.get("name") if isinstance(value, dict) else match["name"].strip()
    return scene.say(f"Written to `{name}`.", f"In `{name}` geschrieben.")


def read(scene: Scene, match: Taken, value: Any) -> str:
    text = str(value.get("text", "")) if isinstance(value, dict) else str(value)
    fence = "`" * (max((len(each) for each in re.findall("`+", text)), default=0) + 3)
    return f"`{match['name'].strip()}`:\n\n{fence}\n{text}\n{fence}"


PROGRESS = phrases(
    r"what (?:have|did) you (?:do|done|change|changed)(?: so far| lately| today| for me)*[\s.!?]*",
    r"(?:show|read)(?: me)?(?: your| my| the) progress[\s.!?]*",
    r"was hast du (?:bisher |zuletzt |heute |alles |für mich )*(?:gemacht|getan|geändert)[\s.!?]*",
    r"(?:zeig|zeige|lies)(?: mir)?(?: deinen| meinen| den) fortschritt(?: vor| an)?[\s.!?]*",
)
LINES = 20


def progress(scene: Scene, match: Taken, value: Any) -> str:
    """The newest lines."""
    lines = [each for each in str(value.get("text", "")).splitlines() if each.strip()][-LINES:]
    if not lines:
        return scene.say("I have changed nothing for you yet.", "Ich habe für dich noch nichts geändert.")
    head = scene.say("The last things that I did for you:", "Das habe ich zuletzt für dich getan:")
    return head + "\n\n" + "\n".join(f"- {quoted(each.removeprefix('- '))}" for each in lines)


INTENTS = (
    uses("progress", "read_file", PROGRESS, lambda _: {"name": "progress.md"}, progress),
    uses("list_files", "list_files", LIST, lambda _: {}, listed),
    uses(
        "write_file",
        "write_file",
        WRITE,
        lambda match: {"name": match["name"].strip(), "text": unquoted(match["text"])},
        written,
    ),
    uses("read_file", "read_file", READ, lambda match: {"name": match["name"].strip()}, read),
)
