"""The way to the public: a proposal that waits for a person (rule 20). The console itself never becomes public."""

import re
import unicodedata
from typing import Any
from urllib.parse import quote

from services.agent.builtin.domain import Intent, Say, Scene, Step, Taken
from services.agent.builtin.intent import phrases, quoted, through, uses
from services.agent.builtin.intents.memory import PRUNE_DE, PRUNE_EN, prune
from services.agent.builtin.side import summary
from shared.attachments import PICTURES, media_type
from shared.markup.files import named_in

_THING = r"(?P<thing>.+?)"
PUBLIC = phrases(
    rf"(?:make|turn|set) {_THING} (?:to )?(?:public(?:ly)?|visible to (?:everybody|everyone|customers|the public|all|anyone))(?: available| visible| accessible| readable)?(?: for (?:everybody|everyone|customers|all|anyone))?[\s.!?]*",
    rf"make public {_THING}[\s.!?]*",
    r"(?:open|expose|show|share|publish|release) (?P<thing>(?:the|this|our|my|that)? ?(?:whole |internal |customer |staff )*(?:console|dashboard|app|queue|customer|internal|records?|table|list|database)\b.*?)(?: to| for| with| on)?(?: the)?(?: public| everybody| everyone| customers| internet| world| anyone| all| site)*[\s.!?]*",
    rf"(?:why )?(?:can['’]?t|can|could|won['’]?t|don['’]?t) (?:you |we |i )(?:not )?(?:just )?(?:make|open|publish) {_THING} (?:to the )?public[\s.!?]*",
    rf"{_THING} öffentlich (?:machen|stellen|schalten)[\s.!?]*",
    rf"(?:mach|mache|stell|stelle|schalte|schalt|setz|setze) {_THING} (?:öffentlich|für alle sichtbar|für (?:alle|jeden|kunden) (?:sichtbar|zugänglich|lesbar))(?: zugänglich| sichtbar| verfügbar| lesbar)?[\s.!?]*",
    r"(?:öffne|gib|zeige|zeig|teile|veröffentliche|veröffentlich) (?P<thing>(?:die|diese|unsere|meine|den|das|dieses)? ?(?:ganze |interne |gesamte )*(?:konsole|konsolenseite|dashboard|app|warteschlange|kunden\w*|interne\w*|datensätze|tabelle|liste|datenbank)\b.*?)(?: frei)?(?: für)?(?: alle| jeden| kunden| die öffentlichkeit| das internet)*(?: frei)?[\s.!?]*",
    rf"(?:warum |wieso |weshalb )?(?:kannst|kann) (?:du|man|ich) {_THING} (?:nicht )?öffentlich (?:machen|stellen|schalten)[\s.!?]*",
)
_PAGE = r"(?:page|doc|document|announcement|report|article|post)"
_SEITE = r"(?:seite|dokument|ankündigung|bericht|artikel|beitrag)"
FIELDS = phrases(
    r"(?:(?:yes|yep|sure|ok|okay|good|do|propose|suggest|submit|show|it|the|page|that|with|only|just)\b[\s,:.!]*){0,9}fields?\s*:?\s+(?P<fields>.+?)[\s.!]*",
    r"(?:(?:ja|gern|gerne|ok|okay|gut|schlag|schlage|zeig|zeige|sie|es|die|seite|mit|nur|den)\b[\s,:.!]*){0,9}(?:felder|feldern|feld)\s*:?\s+(?P<fields>.+?)(?: vor)?[\s.!]*",
)
YES = phrases(
    r"(?:yes|yep|sure|please do|do|do it|go ahead|ok|okay|good)(?: please| do it| propose it| go ahead)?[\s.!]*",
    r"(?:ja|gern|gerne|mach das|ok|okay|gut|bitte)(?: bitte| gern| gerne| mach das| schlag sie vor| schlag es vor)?[\s.!]*",
)
PROPOSE = phrases(
    rf"(?:propose|suggest|submit|hand in|draft)(?: to publish)?(?: for publication)?(?: a| an| the| this| new| public)*? ?(?P<kind>{_PAGE})(?: for publication| for the site)?(?: called| named| titled| with the title)?\s*[:,]?\s+(?P<rest>.+)",
    rf"publish(?: a| an| the| this| new| public)*? ?(?P<kind>{_PAGE})(?: called| named| titled| with the title)?\s*[:,]?\s+(?P<rest>.+)",
    r"(?:propose|suggest)(?: for publication| to publish)\s*[:,]?\s+(?P<rest>.+)",
    rf"(?:schlag|schlage)(?: bitte)?(?: eine| die| diese| einen| ein| neue| neuen| öffentliche)*? ?(?P<kind>{_SEITE})(?: zur veröffentlichung)?(?: vor)?(?: namens| mit dem titel)?\s*[:,]?\s+(?P<rest>.+?)(?: vor)?",
    rf"(?:veröffentliche|veröffentlich|reiche|reich)(?: bitte)?(?: eine| die| diese| einen| ein| neue| neuen)*? ?(?P<kind>{_SEITE})(?: ein)?(?: namens| mit dem titel)?\s*[:,]?\s+(?P<rest>.+?)(?: ein)?",
    r"(?:schlag|schlage)(?: bitte)? zur veröffentlichung(?: vor)?\s*[:,]?\s+(?P<rest>.+)",
)
OUTCOMES = phrases(
    r"(?:what|how)(?: has| have)? (?:became|become|happened|is|are|about)(?: of| to| with)?(?: the state of)? my proposals?[\s.!?]*",
    r"(?:show|list)(?: me)?(?: all)?(?: of)?(?: my| the| your) proposals[\s.!?]*",
    r"(?:was|were|has|have|is|are)(?: any of)? my (?:proposals?|pages?)(?: been)? (?:approved|published|decided|rejected)(?: yet)?[\s.!?]*",
    r"(?:was ist|was wurde|wie steht es|wie stehts)(?: denn)?(?: aus| um| mit)? (?:meinen vorschlägen|meinem vorschlag|meine vorschläge)(?: geworden)?[\s.!?]*",
    r"(?:zeig|zeige|liste)(?: mir)?(?: alle)?(?: meine| die| deine) vorschläge(?: auf| an)?[\s.!?]*",
    r"(?:wurde|wurden|ist|sind)(?: schon)? (?:mein vorschlag|meine vorschläge|meine seite)(?: schon)? (?:freigegeben|genehmigt|abgelehnt|veröffentlicht|entschieden)(?: worden)?[\s.!?]*",
)
STATES = {
    "handed_in": ("handed in", "eingereicht"),
    "submitted": ("waits for a decision", "wartet auf eine Entscheidung"),
    "approved": ("approved", "freigegeben"),
    "rejected": ("rejected", "abgelehnt"),
    "changes_requested": ("changes are wanted", "Änderungen gewünscht"),
    "scheduled": ("will be published", "wird veröffentlicht"),
    "published": ("public", "öffentlich"),
    "superseded": ("replaced by a newer one", "durch eine neuere ersetzt"),
    "withdrawn": ("withdrawn", "zurückgezogen"),
    "refused": ("could not be taken", "konnte nicht angenommen werden"),
    "unchanged": ("changes nothing", "ändert nichts"),
}
MARKER_EN, MARKER_DE = "I can propose a page", "eine Seite vorschlagen"
_FILE = r"[\"“„]?[^\s\"“”„,]+\.(?:png|jpe?g|webp|gif|pdf|txt|csv|md|json|docx|xlsx|pptx)[\"”“]?"
_KINDS = {"doc": "doc", "document": "doc", "dokument": "doc", "announcement": "announcement", "ankündigung": "announcement", "report": "report", "bericht": "report"}  # fmt: skip
WITH_FILES = re.compile(rf",?\s+(?:with|mit)(?: the| a| my| der| dem| den| meinem| meiner)?(?: files?| pictures?| attachments?| datei(?:en)?| bild(?:ern?)?| anh[aä]ng(?:en?)?)\s+(?P<files>{_FILE}(?:(?:,\s*| and | und ){_FILE})*)\s*[.!]?\s*\Z", re.IGNORECASE)  # fmt: skip
_SPELLED = {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue"}
_SPLIT = re.compile(r"^\s*[\"“„»]?(?P<title>[^\n]+?)[\"”“«]?\s*(?:\n+|\s*[:–—]\s+|\s+with the text\s*:?\s+|\s+mit dem text\s*:?\s+)(?P<body>.+)$", re.DOTALL | re.IGNORECASE)  # fmt: skip


def explain(scene: Scene, match: Taken) -> Step:
    """Why not, and the right way; offered only where the tool is."""
    why = scene.say(
        f"I can't make “{quoted(match['thing'], 80)}” public. The console and what is in it stay inside: nothing internal becomes public by a switch, by a text or by any tool of mine."
        " What is to be public goes through the lock as an item of its own, and a person decides on exactly that in the console.",
        f"„{quoted(match['thing'], 80)}“ kann ich nicht öffentlich machen. Die Konsole und was darin steht bleiben innen: Nichts Internes wird durch einen Schalter, einen Text oder eines meiner"
        " Werkzeuge öffentlich. Was öffentlich sein soll, geht als eigener Eintrag durch die Schleuse, und ein Mensch entscheidet in der Konsole über genau diesen.",
    )
    if "propose_publication" not in scene.offered:
        return Say(why + scene.say(" An owner or admin can have me propose such a page.", " Ein Inhaber oder Admin kann mich so eine Seite vorschlagen lassen."))  # fmt: skip
    return Say(
        why
        + scene.say(
            f"\n\n{MARKER_EN} that holds only the fields that may be shown. Tell me which: “the fields name, city” – or “propose a page TITLE: TEXT”.",
            f"\n\nIch kann aber {MARKER_DE}, die nur die Felder enthält, die man zeigen darf. Sage mir, welche: „die Felder Name, Ort“ – oder „schlage eine Seite vor: TITEL: TEXT“.",
        )
    )


def propose(scene: Scene, match: Taken) -> Step:
    parts = _SPLIT.match(match["rest"])
    if parts is None:
        return Say(scene.say("What is to stand on the page? Say “propose a page TITLE: TEXT”.", "Was soll auf der Seite stehen? Sage „schlage eine Seite vor: TITEL: TEXT“."))  # fmt: skip
    kind = _KINDS.get(match["kind"].casefold(), "page")
    return _hand_in(scene, kind, parts["title"].strip(), parts["body"].strip())


def with_fields(scene: Scene, match: Taken) -> Step:
    """A page with nothing but the fields that were named, after the offer."""
    asked = next((found for said in scene.earlier for each in PUBLIC if (found := each.fullmatch(said))), None)
    if asked is None:
        return Say(scene.say("Which page do you mean? Say “propose a page TITLE: TEXT”.", "Welche Seite meinst du? Sage „schlage eine Seite vor: TITEL: TEXT“."))  # fmt: skip
    fields = [each.strip() for each in re.split(r",|;|\band\b|\bund\b", match["fields"]) if each.strip()]
    thing = re.sub(r"^(?:the|this|our|my|that|die|diese|unsere|meine|den|das|dieses)\s+", "", asked["thing"], flags=re.IGNORECASE)  # fmt: skip
    head = scene.say("This page shows only:", "Diese Seite zeigt nur:")
    return _hand_in(
        scene, "page", thing[:1].upper() + thing[1:], head + "\n\n" + "\n".join(f"- {each}" for each in fields)
    )


def agree(scene: Scene, match: Taken) -> Step:
    """Yes to what was offered last."""
    if PRUNE_EN in scene.before or PRUNE_DE in scene.before:
        return prune(scene, match)
    if offered_before(scene):
        return Say(scene.say("Gladly. Which fields may be shown? Say “the fields name, city”.", "Gern. Welche Felder darf man zeigen? Sage „die Felder Name, Ort“."))  # fmt: skip
    return Say(scene.say("What may I do for you?", "Was kann ich für dich tun?"))


def offered_before(scene: Scene) -> bool:
    return MARKER_EN in scene.before or MARKER_DE in scene.before


def outcomes(scene: Scene, match: Taken, value: Any) -> str:
    proposals = value.get("proposals", []) if isinstance(value, dict) else value
    if not proposals:
        return scene.say("You have proposed nothing through me yet.", "Du hast durch mich noch nichts vorgeschlagen.")
    lines = [_outcome(scene, each) for each in proposals]
    return scene.say("Your proposals:", "Deine Vorschläge:") + "\n\n" + "\n".join(lines)


def _outcome(scene: Scene, proposal: dict[str, Any]) -> str:
    state = str(proposal.get("state"))
    said = scene.say(*STATES.get(state, (state, state)))
    why = f": “{quoted(str(proposal['reason']), 120)}”" if proposal.get("reason") else ""
    return f"- [{_label(str(proposal.get('title')))}]({proposal.get('link')}): {said}{why}"


def _with_files(body: str) -> tuple[str, list[str]]:
    """The text, and which files of the workspace go with it: those that it names, and those said at its end. A picture that was only said is shown."""
    said = WITH_FILES.search(body)
    files = [each.strip(' ,"“„”') for each in re.split(r",| and | und ", said["files"])] if said else []
    if said:
        body = body[: said.start()].rstrip(" ,")
        shown = [_name(each) for each in files if media_type(each) in PICTURES.values() and each not in named_in(body)]
        body += "".join(f"\n\n![{name.rpartition('.')[0]}]({quote(name)})" for name in shown)
    known = {_name(each) for each in files}
    return body, [*files, *(each for each in named_in(body) if _name(each) not in known)]


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _hand_in(scene: Scene, kind: str, title: str, body: str) -> Step:
    body, files = _with_files(body)
    arguments: dict[str, Any] = {"kind": kind, "lang": scene.lang, "path": slug(title), "title": title, "summary": summary(body, 1)[:200], "body": body}  # fmt: skip
    if files:
        arguments["attachments"] = files

    def done(value: Any) -> Step:
        link = value.get("link") if isinstance(value, dict) else None
        name = f"[{_label(title)}]({link})" if link else f"“{_label(title)}”"
        return Say(
            scene.say(
                f"{name} is proposed and waits in the console's queue. It becomes public only if a person approves exactly this text; I'll tell you what was decided.",
                f"{name} ist vorgeschlagen und wartet in der Warteschlange der Konsole. Öffentlich wird es nur, wenn ein Mensch genau diesen Text freigibt; ich sage dir, was entschieden wurde.",
            )
        )

    return through(scene, "propose_publication", arguments, done)


def _label(title: str) -> str:
    """A title that cannot end the link that it names."""
    return quoted(title, 80).replace("[", "(").replace("]", ")")


def slug(title: str) -> str:
    """A path of lower-case words; letters beyond ASCII are spelled or left out, an empty one is `page`."""
    spelled = title.casefold().translate(_SPELLED)
    ascii_only = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_only).strip("-")[:80].strip("-") or "page"


INTENTS = (
    Intent("explain_public", PUBLIC, explain),
    uses("list_proposals", "list_proposals", OUTCOMES, lambda _: {}, outcomes),
    Intent("propose_publication", PROPOSE, propose, needs=("propose_publication",)),
    Intent("propose_fields", FIELDS, with_fields, needs=("propose_publication",)),
    Intent("agree", YES, agree),
)
