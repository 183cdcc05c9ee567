"""What was shared with the agent, pages of the web, and extracts of texts. All of it is data: it is shown, and never followed."""

from typing import Any

from services.agent.builtin.domain import Intent, Say, Scene, Step, Taken
from services.agent.builtin.intent import lacks, phrases, quoted, through
from services.agent.builtin.side import summary

_RECORDS = r"(?:comments?|feedback|records?|messages|reviews|answers)"
_EINTRAEGE = r"(?:kommentare|rückmeldungen|feedback|datensätze|einträge|nachrichten|antworten)"
SHARED = phrases(
    r"(?:what|which|show(?: me)?|list|read)(?: records?| things?| was| is| has been| have been| everything| what(?: was| is)?)*(?: that)?(?: was| is| were| are| has been)?(?: been)? shared(?: with you| with the agent| records?)*[\s.!?]*",
    rf"(?:read|show|list|check)(?: me)?(?: the| all| new| latest| shared)* {_RECORDS}[\s.!?]*",
    r"(?:was|welche)(?: datensätze)? (?:wurde|ist|wurden|sind)(?: mit)?(?: dir| dem agenten)? (?:mit dir )?geteilt(?: worden)?[\s.!?]*",
    rf"(?:zeig|zeige|lies|liste|prüfe|prüf)(?: mir)?(?: bitte)?(?: die| alle| neuen| neue| geteilten| letzten)* {_EINTRAEGE}(?: vor| auf| an)?[\s.!?]*",
)
SUM_SHARED = phrases(
    rf"(?:summari[sz]e|sum up|give me a summary of)(?: the| all| new| latest| shared| visitors?['’]?)* {_RECORDS}[\s.!?]*",
    rf"(?:fass|fasse)(?: bitte)?(?: die| das| alle| neuen| neue| geteilten| letzten)* {_EINTRAEGE} zusammen[\s.!?]*",
)
PAGE = phrases(
    r"(?:read|open|fetch|load|look at|summari[sz]e)(?: this| the| that)?(?: web)?(?: ?page)?(?: at)?\s*:?\s+(?P<url>https?://\S+?)[\s.!?]*",
    r"(?:lies|öffne|hole|lade|fasse|fass)(?: bitte)?(?: diese| die)?(?: (?:web)?seite)?\s*:?\s+(?P<url>https?://\S+?)(?: vor| zusammen)?[\s.!?]*",
)
WHICH = phrases(
    r"(?:read|open|fetch|load|summari[sz]e)(?: this| the| that| a) (?:web ?)?page[\s.!?]*",
    r"(?:lies|öffne|hole|lade)(?: bitte)?(?: diese| die| eine) (?:web)?seite(?: vor)?[\s.!?]*",
)
SUM_TEXT = phrases(
    r"(?:summari[sz]e|sum up)(?: this| the following)?(?: text)?\s*:?\s+(?P<text>.{40,})",
    r"(?:fass|fasse)(?: bitte)?(?: das| dies| diesen text| folgendes)?(?: kurz)?(?: zusammen)?\s*:\s*(?P<text>.{40,})",
)


def records_of(value: Any) -> list[dict[str, Any]]:
    found = value.get("records", []) if isinstance(value, dict) else value
    return [each for each in found or [] if isinstance(each, dict)]


def show_shared(scene: Scene, match: Taken) -> Step:
    return _shared(scene, lambda text: quoted(text, 300))


def sum_shared(scene: Scene, match: Taken) -> Step:
    return _shared(scene, lambda text: quoted(summary(text, 2), 240))


def _shared(scene: Scene, shorten: Any) -> Step:
    def done(value: Any) -> Step:
        records = records_of(value)
        if not records:
            return Say(scene.say("Nothing is shared with me at the moment. Staff switch that on in the console, record by record.", "Im Augenblick ist nichts mit mir geteilt. Das schalten Mitarbeiter in der Konsole ein, Eintrag für Eintrag."))  # fmt: skip
        head = scene.say(f"{len(records)} shared with me; these are other people's words:", f"{len(records)} mit mir geteilt; das sind Worte anderer Leute:")  # fmt: skip
        lines = [f"- {quoted(str(each.get('title') or each.get('kind') or ''), 80)}: “{shorten(str(each.get('text') or ''))}”" for each in records]  # fmt: skip
        return Say(head + "\n\n" + "\n".join(lines))

    return through(scene, "read_shared", {}, done)


def page(scene: Scene, match: Taken) -> Step:
    def done(value: Any) -> Step:
        text = str(value.get("text", "")) if isinstance(value, dict) else str(value)
        found = quoted(summary(text, 5), 1500)
        if not found:
            return Say(scene.say("The page has no text.", "Die Seite hat keinen Text."))
        return Say(
            scene.say(
                f"From the page, in its own words:\n\n> {found}", f"Aus der Seite, mit ihren Worten:\n\n> {found}"
            )
        )

    return through(scene, "read_page", {"url": match["url"]}, done)


def which(scene: Scene, match: Taken) -> Step:
    if "read_page" not in scene.offered:
        return lacks(scene)
    return Say(
        scene.say(
            "Which one? Tell me its address: “read https://…”.", "Welche? Nenne mir ihre Adresse: „lies https://…“."
        )
    )


INTENTS = (
    Intent("summarise_shared", SUM_SHARED, sum_shared, needs=("read_shared",)),
    Intent("read_shared", SHARED, show_shared, needs=("read_shared",)),
    Intent("read_page", PAGE, page, needs=("read_page",)),
    Intent("which_page", WHICH, which),
    Intent("summarise", SUM_TEXT, lambda scene, match: Say(summary(match["text"]))),
)
