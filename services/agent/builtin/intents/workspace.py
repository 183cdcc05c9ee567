"""Files moved, renamed, deleted and searched, folders, and questions about the product that its documentation answers. "It" and "the second" are
among the files that were spoken of last."""

import re
from typing import Any

from services.agent.builtin.domain import Intent, Result, Say, Scene, Step, Taken
from services.agent.builtin.intent import bullets, phrases, quoted, through, uses
from services.agent.builtin.side import summary

_Q = r"[\"'“„`]?"
_END = r"[\"'”“`]?[\s.!?]*"
_FILE = rf"(?:(?:the |my |die |meine |das |den )?(?:file|folder|datei|ordner) {_Q}(?P<name>[^\s\"'“”„`:][^\n\"“”„`]*?)[\"'”“`]?|{_Q}(?P<name2>[^\s\"'“”„`:]*[^\s\"'“”„`:.](?: \(\d{{1,3}}\))?[./][^\n\"“”„`:]*?)[\"'”“`]?)"
_NTH_EN = r"first|second|third|fourth|fifth|last"
_NTH_DE = r"(?:erste|zweite|dritte|vierte|fünfte|letzte)[nrs]?"
_IT = rf"(?:it|that|this|(?:that|this|the) file|sie|ihn|es|das|die(?:se)? datei|(?:the |number |no\.? |die |den |das |nummer |nr\.? )?(?P<nth>{_NTH_EN}|{_NTH_DE}|\d{{1,2}})(?: one| file| datei)?)"
_INTO = (
    rf"(?:to|into|nach|in|zu)(?: the| my| den| meinen)?(?: folder| ordner)? {_Q}(?P<to>[^\s\"“”„`][^\n\"“”„`]*?){_END}"
)
MOVE = phrases(rf"(?:move|verschieb|verschiebe)(?: bitte)? {_FILE} {_INTO}")
RENAME = phrases(
    rf"(?:rename) {_FILE} (?:to|as|into) {_Q}(?P<to>[^\s\"“”„`][^\n\"“”„`]*?){_END}",
    rf"(?:benenne|nenne|nenn)(?: bitte)? {_FILE} in {_Q}(?P<to>[^\s\"“”„`][^\n\"“”„`]*?)[\"'”“`]? um[\s.!?]*",
    rf"(?:benenne|nenne|nenn)(?: bitte)? {_FILE} um in {_Q}(?P<to>[^\s\"“”„`][^\n\"“”„`]*?){_END}",
)
DELETE = phrases(
    rf"(?:delete|remove|lösche|lösch|entferne)(?: bitte)? {_FILE}(?P<everything> (?:with|and|mit|und) (?:all|everything|alles|allem)(?: that is| what is| was)?(?: in it| darin| drin)?(?: ist)?)?[\s.!?]*",
)
MOVE_IT = phrases(rf"(?:move|verschieb|verschiebe)(?: bitte)? {_IT} {_INTO}")
RENAME_IT = phrases(
    rf"rename {_IT} (?:to|as) {_Q}(?P<to>[^\s\"“”„`][^\n\"“”„`]*?){_END}",
    rf"(?:benenne|nenne|nenn)(?: bitte)? {_IT} (?:in {_Q}(?P<to>[^\s\"“”„`][^\n\"“”„`]*?)[\"'”“`]? um|um in {_Q}(?P<to2>[^\s\"“”„`][^\n\"“”„`]*?)[\"'”“`]?)[\s.!?]*",
)
DELETE_IT = phrases(
    rf"(?:delete|remove|lösche|lösch|entferne)(?: bitte)? {_IT}(?: again| wieder)?[\s.!?]*",
)
READ_IT = phrases(rf"(?:read|show|open|lies|zeig|zeige|öffne)(?: me| mir)?(?: bitte)? {_IT}(?: vor| an)?[\s.!?]*")
NO_TO = phrases(rf"(?:no|not there|rather|nein|lieber|doch)[, ]+(?:lieber |rather )?{_INTO}")
EVERYTHING = phrases(
    r"(?:yes|ja)?[, ]*(?:delete |lösche )?(?:everything|all of it|with everything|alles|mit allem|samt inhalt)(?: in it| darin)?[\s.!?]*"
)
FOLDER = phrases(
    rf"(?:make|create|add)(?: me)?(?: a| the)?(?: new)? folder(?: called| named)? {_Q}(?P<name>[^\s\"“”„`:][^\n\"“”„`:]*?){_END}",
    rf"(?:erstelle|mach|mache|lege|leg)(?: mir)?(?: bitte)?(?: einen| den)?(?: neuen)? ordner(?: namens)? {_Q}(?P<name>[^\s\"“”„`:][^\n\"“”„`:]*?)[\"'”“`]?(?: an)?[\s.!?]*",
)
LIST = phrases(
    rf"(?:what(?:['’]s| is| files are| lies)|which files are) in(?: the| my)? (?:folder {_Q}(?P<name>[^\n\"“”„`]+?)|(?P<name2>drafts|assets|uploads|downloads|skills|jobs|docs)(?: folder)?){_END}",
    rf"(?:list|show|open)(?: me)?(?: the| my)?(?: files in| files of)?(?: the| my)? (?:folder {_Q}(?P<name>[^\n\"“”„`]+?)|(?P<name2>drafts|assets|uploads|downloads|skills|jobs|docs)(?: folder)?){_END}",
    rf"(?:was (?:ist|liegt)|welche dateien (?:sind|liegen)) (?:im|in dem|in meinem|in) (?:ordner {_Q}(?P<name>[^\n\"“”„`]+?)|(?P<name2>drafts|assets|uploads|downloads|skills|jobs|docs)){_END}",
    rf"(?:zeig|zeige|öffne|liste)(?: mir)?(?: den| meinen| die dateien in| die dateien im)? (?:ordner {_Q}(?P<name>[^\n\"“”„`]+?)|(?P<name2>drafts|assets|uploads|downloads|skills|jobs|docs))(?: an| auf)?{_END}",
)
SEARCH = phrases(
    rf"(?:search|look|look through|search through)(?: in| through)?(?: all)?(?: of)?(?: my| the| our) files (?:for|about) {_Q}(?P<words>[^\n\"“”„]+?){_END}",
    rf"(?:find|search for|look for) {_Q}(?P<words>[^\n\"“”„]+?)[\"'”“`]? in(?: all)?(?: of)? my files[\s.!?]*",
    rf"(?:which|what)(?: of my)? files? (?:mentions?|contains?|has|have|say|says|talk about) {_Q}(?P<words>[^\n\"“”„]+?){_END}",
    rf"(?:suche|such|schau|sieh)(?: bitte)? in(?: allen)?(?: meinen| den) dateien nach {_Q}(?P<words>[^\n\"“”„]+?){_END}",
    rf"durchsuche(?: bitte)?(?: alle)?(?: meine| die) dateien nach {_Q}(?P<words>[^\n\"“”„]+?){_END}",
    rf"(?:finde|such|suche)(?: bitte)?(?: nach)? {_Q}(?P<words>[^\n\"“”„]+?)[\"'”“`]? in(?: allen)?(?: meinen| den) dateien[\s.!?]*",
    rf"in welcher? (?:meiner )?dateie?n? (?:steht|stehen|kommt) {_Q}(?P<words>[^\n\"“”„]+?)[\"'”“`]?(?: vor)?[\s.!?]*",
    rf"in welchen (?:meiner )?dateien (?:steht|stehen|kommt) {_Q}(?P<words>[^\n\"“”„]+?)[\"'”“`]?(?: vor)?[\s.!?]*",
)
DOCS = phrases(
    r"(?:what|where) (?:does|do|is|are)(?: it say in)? (?:the |your )?(?:documentation|manual|docs|help pages?)(?: say)?(?: about| on)? (?P<question>.+)",
    r"(?:search|look up|look in)(?: in)?(?: the| your)? (?:documentation|manual|docs) (?:for|about|:) ?(?P<question>.+)",
    r"(?:was|wo) (?:sagt|sagen|steht)(?: in)? (?:die|der|deine|deiner) (?:dokumentation|anleitung|hilfe)(?: zu| zum| zur| über)? (?P<question>.+)",
    r"(?:suche|such|schlag|schlage|sieh)(?: bitte)? in (?:der|deiner) (?:dokumentation|anleitung|hilfe) (?:nach|:) ?(?P<question>.+)",
    r"(?P<question>how (?:do|can|could|may|should|would) (?:i|we|one|you|somebody|a guest)\b.+)",
    r"(?P<question>how (?:does|do|is|are)\b.+ (?:work|done|made|kept|decided|published|shared|protected)[\s.!?]*)",
    r"(?P<question>where (?:do|can|could) (?:i|we|one)\b.+)",
    r"(?P<question>what happens (?:if|when|to|with)\b.+)",
    r"(?P<question>how (?:large|big|long|many|much)\b (?:may|can)\b.+)",
    r"(?P<question>wie (?:kann|könnte|muss|soll|darf) (?:ich|man|wir|jemand|ein gast)\b.+)",
    r"(?P<question>wie \w+ (?:ich|man|wir)\b.+)",
    r"(?P<question>wie (?:funktioniert|funktionieren|geht|gehen)\b.+)",
    r"(?P<question>wo (?:kann|finde|findet|stelle|stellt|sehe|sieht) (?:ich|man|wir)\b.+)",
    r"(?P<question>was (?:passiert|geschieht)\b.+)",
    r"(?P<question>wie (?:groß|lang|lange|viele?|oft)\b (?:darf|dürfen|kann|können)\b.+)",
)
_ATTACHED = r"[\"“„](?P<name3>[^\n\"“”„`]*[./][^\n\"“”„`]*)[\"“”]"
"""How the chat names a file that was attached: before what is said of it, or alone."""
SUM = phrases(
    rf"{_ATTACHED}[ ,:–-]+(?:please )?(?:summari[sz]e|sum up)(?: it| this| that)?(?: file)?[\s.!?]*",
    rf"{_ATTACHED}[ ,:–-]+(?:bitte )?(?:fass|fasse)(?: mir)?(?: bitte)?(?: es| sie| das| die datei)?(?: kurz)? zusammen[\s.!?]*",
    rf"(?:summari[sz]e|sum up|give me a summary of) (?:{_FILE}|[\"“„](?P<name3>[^\n\"“”„`]+)[\"“”]){_END}",
    rf"(?:fass|fasse)(?: mir)?(?: bitte)? (?:{_FILE}|[\"“„](?P<name3>[^\n\"“”„`]+)[\"“”])(?: kurz)? zusammen[\s.!?]*",
)
QUOTED = phrases(
    rf"{_ATTACHED}(?:[ ,:–-]+(?:please )?(?:read|show|open)(?: me)?(?: it| this| that)?(?: file)?)?[\s.!?]*",
    rf"{_ATTACHED}[ ,:–-]+(?:bitte )?(?:lies|zeig|zeige|öffne)(?: mir)?(?: bitte)?(?: es| sie| das| die datei)?(?: vor| an)?[\s.!?]*",
    rf"(?:what(?:['’]s| is| stands)|was (?:ist|steht)) in {_ATTACHED}[\s.!?]*",
    r"(?:read|show|open|lies|zeig|zeige|öffne)(?: me| mir)?(?: bitte)? [\"“„](?P<name3>[^\n\"“”„`]+)[\"“”](?: vor| an)?[\s.!?]*",
)
FILE_TOOLS = ("list_files", "list_folder", "search_files", "read_file", "write_file", "move_file", "make_folder", "email_save_attachment")  # fmt: skip
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "erste": 0, "zweite": 1, "dritte": 2, "vierte": 3, "fünfte": 4}  # fmt: skip


def spoken_of(scene: Scene) -> tuple[str, ...]:
    """The files that the newest tool brought, when it was one of files."""
    newest = scene.past[0] if scene.past else None
    return _names(newest) if newest is not None and newest.tool in FILE_TOOLS else ()


def about_files(scene: Scene) -> bool:
    return bool(scene.past) and scene.past[0].tool in FILE_TOOLS


def meant(scene: Scene, match: Taken) -> str:
    """The name of the one that is meant; empty when that cannot be told."""
    names, nth = spoken_of(scene), match["nth"].lower()
    if not nth:
        return names[0] if len(names) == 1 else ""
    if nth in ("last",) or nth.startswith("letzte"):
        return names[-1] if names else ""
    at = int(nth) - 1 if nth.isdigit() else _ORDINALS.get(nth, _ORDINALS.get(nth.rstrip("nrs"), -1))
    return names[at] if 0 <= at < len(names) else ""


def _names(found: Result) -> tuple[str, ...]:
    value = found.value if isinstance(found.value, dict) else {}
    for listed in ("files", "entries", "hits"):
        if isinstance(value.get(listed), list):
            names = [str(each.get("name", "")) for each in value[listed] if isinstance(each, dict)]
            return tuple(dict.fromkeys(each for each in names if each))
    name = value.get("name")
    return (str(name),) if name else ()


def _one(match: Taken) -> str:
    return (match["name"] or match["name2"] or match["name3"]).strip()


def _moved(scene: Scene, name: str, to: str) -> Step:
    return through(scene, "move_file", {"name": name, "to": to.rstrip("/")}, lambda value: Say(scene.say(f"`{name}` is `{value['name']}` now.", f"`{name}` heißt jetzt `{value['name']}`.")))  # fmt: skip


def _beside(name: str, to: str) -> str:
    """A new name stays in its folder, unless it names another."""
    folder = name.rpartition("/")[0]
    return f"{folder}/{to}" if folder and "/" not in to else to


def _deleted(scene: Scene, name: str, everything: bool = False) -> Step:
    given = {"name": name} | ({"everything": True} if everything else {})
    return through(scene, "delete_file", given, lambda _: Say(scene.say(f"`{name}` is deleted.", f"`{name}` ist gelöscht.")))  # fmt: skip


def _which(scene: Scene) -> Say:
    return Say(scene.say("Which file? Say its name.", "Welche Datei? Sag ihren Namen."))


def move_it(scene: Scene, match: Taken) -> Step:
    name = meant(scene, match)
    return _moved(scene, name, match["to"]) if name else _which(scene)


def rename_it(scene: Scene, match: Taken) -> Step:
    name = meant(scene, match)
    return _moved(scene, name, _beside(name, match["to"] or match["to2"])) if name else _which(scene)


def delete_it(scene: Scene, match: Taken) -> Step:
    name = meant(scene, match)
    return _deleted(scene, name) if name else _which(scene)


def read_it(scene: Scene, match: Taken) -> Step:
    name = meant(scene, match)
    return through(scene, "read_file", {"name": name}, lambda value: Say(shown(name, value))) if name else _which(scene)


def elsewhere(scene: Scene, match: Taken) -> Step:
    """After a move: another place for the same file."""
    name = spoken_of(scene)[0]
    return _moved(scene, name, f"{match['to'].rstrip('/')}/{name.rpartition('/')[2]}" if "." not in match["to"] else match["to"])  # fmt: skip


def with_everything(scene: Scene, match: Taken) -> Step:
    """After a folder was not deleted, as it holds something."""
    named = re.search(r": (\S.*?) holds \d+ files?;", scene.before)
    return _deleted(scene, named[1], everything=True) if named else _which(scene)


def shown(name: str, value: Any) -> str:
    text = str(value.get("text", "")) if isinstance(value, dict) else str(value)
    fence = "`" * (max((len(each) for each in re.findall("`+", text)), default=0) + 3)
    return f"`{name}`:\n\n{fence}\n{text}\n{fence}"


def listed(scene: Scene, match: Taken, value: Any) -> str:
    names = [f"`{each['name']}{'/' if each.get('folder') else ''}`" for each in value.get("entries", [])]
    folder = _one(match)
    if not names:
        return scene.say(f"Nothing is in `{folder}` yet.", f"In `{folder}` ist noch nichts.")
    return scene.say(f"In `{folder}`:", f"In `{folder}`:") + "\n\n" + bullets(names)


def found(scene: Scene, match: Taken, value: Any) -> str:
    hits = value.get("hits", [])
    if not hits:
        return scene.say(f"“{quoted(match['words'])}” stands in none of your files.", f"„{quoted(match['words'])}“ steht in keiner deiner Dateien.")  # fmt: skip
    lines = [_hit(scene, each) for each in hits[:20]]
    head = scene.say(f"“{quoted(match['words'])}” stands in:", f"„{quoted(match['words'])}“ steht in:")
    return head + "\n\n" + bullets(lines)


def _hit(scene: Scene, each: Any) -> str:
    if not each.get("line"):
        return f"`{each['name']}` ({scene.say('its name', 'ihr Name')})"
    return f"`{each['name']}`, {scene.say('line', 'Zeile')} {each['line']}: “{quoted(str(each['text']), 160)}”"


def summed(scene: Scene, match: Taken, value: Any) -> str:
    """An extract, in the file's own words."""
    text = quoted(summary(str(value.get("text", "")), 5), 1500)
    if not text:
        return scene.say("The file has no text.", "Die Datei hat keinen Text.")
    return scene.say(f"From `{_one(match)}`, in its own words:\n\n> {text}", f"Aus `{_one(match)}`, mit ihren Worten:\n\n> {text}")  # fmt: skip


def docs(scene: Scene, match: Taken) -> Step:
    given = {"question": match["question"].strip(), "lang": scene.lang}
    return through(scene, "search_docs", given, lambda value: Say(_answered(scene, value)))


def _answered(scene: Scene, value: Any) -> str:
    passages = value.get("passages", [])
    if not passages:
        pages = ", ".join(f"`docs/{each}`" for each in value.get("pages", []) if each.startswith(scene.lang))
        return scene.say(f"The documentation says nothing about that. Its pages: {pages}", f"Dazu sagt die Dokumentation nichts. Ihre Seiten: {pages}")  # fmt: skip
    best = passages[0]
    more = ", ".join(f"“{each['heading']}” (`{each['page']}`)" for each in passages[1:])
    said = f"**{best['heading']}**\n\n{' '.join(str(best['text']).split())}\n\n" + scene.say("From the documentation", "Aus der Dokumentation") + f", `{best['page']}`."  # fmt: skip
    return said + (scene.say(f" Perhaps also: {more}.", f" Vielleicht auch: {more}.") if more else "")


FIRST = (
    uses("summarise_file", "read_file", SUM, lambda match: {"name": _one(match)}, summed),
    uses("read_quoted", "read_file", QUOTED, lambda match: {"name": _one(match)}, lambda scene, match, value: shown(_one(match), value)),
)  # fmt: skip
"""Before what summarises any text."""
INTENTS = (
    Intent("move_file", MOVE, lambda scene, match: _moved(scene, _one(match), match["to"]), needs=("move_file",)),
    Intent("rename_file", RENAME, lambda scene, match: _moved(scene, _one(match), _beside(_one(match), match["to"])), needs=("move_file",)),
    Intent("delete_file", DELETE, lambda scene, match: _deleted(scene, _one(match), bool(match["everything"])), needs=("delete_file",)),
    uses("make_folder", "make_folder", FOLDER, lambda match: {"name": match["name"].strip()}, lambda scene, _, value: scene.say(f"The folder `{value['name']}` is made.", f"Der Ordner `{value['name']}` ist angelegt.")),
    uses("list_folder", "list_folder", LIST, lambda match: {"folder": _one(match)}, listed),
    uses("search_files", "search_files", SEARCH, lambda match: {"words": match["words"].strip()}, found),
    Intent("move_that_file", MOVE_IT, move_it, when=about_files),
    Intent("rename_that_file", RENAME_IT, rename_it, when=about_files),
    Intent("delete_that_file", DELETE_IT, delete_it, when=about_files),
    Intent("read_that_file", READ_IT, read_it, when=about_files),
    Intent("move_elsewhere", NO_TO, elsewhere, when=lambda scene: bool(scene.past) and scene.past[0].tool == "move_file" and bool(spoken_of(scene))),
    Intent("delete_with_everything", EVERYTHING, with_everything, when=lambda scene: bool(scene.past) and scene.past[0].tool == "delete_file" and bool(scene.past[0].trouble)),
)  # fmt: skip
LATER = (Intent("search_docs", DOCS, docs, needs=("search_docs",)),)
"""Questions of any kind, which other parts may know more of."""
