"""Remember, recall, forget: the memory file in the owner's workspace (rule 21)."""

from typing import Any

from services.agent.builtin.domain import Intent, Say, Scene, Step, Taken, Use
from services.agent.builtin.intent import lacks, phrases, quoted, through, trouble, uses

WISH = phrases(
    r"(?:call|address) me .+",
    r"(?:always|never) (?:answer|reply|write|speak|be|use|call|keep) .+",
    r"(?:answer|reply|write|speak)(?: to)? me .+",
    r"nenn(?:e)? mich .+",
    r"(?:antworte|schreib|schreibe|sprich|sei) (?:mir )?(?:immer|nie|stets) .+",
    r"(?:sprich|rede) mich .+",
)
"""What is to be remembered and is a wish how the agent behaves: it goes into both (a name to be called by, a language, a manner)."""
REMEMBER = phrases(
    r"remember(?: this| that| the following)?\s*[:,–-] ?(?P<what>.+)",
    r"remember (?:this |that |for me that |for me: ?)?(?P<what>(?!(?:this|that|the following)\s*[:,–-]?$)(?!(?:when|what|who|where|how|if)\b).+[^?\s])\s*",
    r"(?:make a note|take a note|note down|note|keep in mind|don['’]t forget)(?: that| of this| this)?\s*[:,]?\s+(?P<what>.+)",
    r"merk(?:e|en)?(?: sie| es)?(?: dir| sich)?(?: bitte| mal)?(?: dies| das| folgendes)?\s*[:,–-] ?(?:dass )?(?P<what>.+)",
    r"merk(?:e)? dir(?: bitte)?,? (?:dass )?(?P<what>.+)",
    r"(?:dir )?merken\s*[:,]?\s+(?:dass )?(?P<what>.+)",
    r"(?:notier|notiere|behalte|halte fest)(?: dir)?(?: bitte)?\s*[:,]?\s+(?:dass )?(?P<what>.+)",
    r"(?:vergiss nicht|denk daran|denke daran|denk dran)\s*[:,]?\s+(?:dass )?(?P<what>.+)",
)
PRUNE_EN, PRUNE_DE = "Shall I propose which lines could go?", "Soll ich vorschlagen, welche Zeilen weg könnten?"
PRUNE = phrases(
    r"(?:prune|shorten|tidy(?: up)?|clean up)(?: my| your| the)? memory[\s.!?]*",
    r"(?:propose|suggest)(?: a)? pruning(?: of (?:my|your|the) memory)?[\s.!?]*",
    r"(?:kürze|kürz|entrümple|räume|räum)(?: bitte)?(?: mein| dein| das) gedächtnis(?: auf)?[\s.!?]*",
    r"(?:schlage|schlag)(?: eine)? kürzung(?: des gedächtnisses)?(?: vor)?[\s.!?]*",
)
RECALL = phrases(
    r"what (?:do|did|have) (?:you|i) (?:still )?(?:remember|remembered|noted?|know)(?: about me| for me| of me)?[\s.!?]*",
    r"(?:what (?:do|did) (?:you|i) (?:still )?(?:remember|know|note)|(?:do|can) you (?:still )?remember|recall|remind me (?=of|about|what)) ?(?:what i (?:said|told you) )?(?:about |of |on |anything about )?(?P<about>.+?)[\s.!?]*",
    r"what (?:did|have) i (?:tell|told|say|said)(?: to)?(?: you)? (?:about|on|of) (?P<about>.+?)[\s.!?]*",
    r"was (?:hast du dir|habe ich dir) (?:über|von|zu|zum thema) (?P<about>.+?) (?:gemerkt|notiert|gesagt|erzählt)[\s.!?]*",
    r"(?:show|read|open|list)(?: me)?(?: my| your| the)? (?:memory(?: file)?|memories|notes)[\s.!?]*",
    r"what(?:['’]s| is) in (?:my|your|the) memory[\s.!?]*",
    r"was (?:weißt|weisst) du (?:noch )?(?:über mich|alles|noch)?[\s.!?]*",
    r"(?:was (?:weißt|weisst) du (?:noch )?|was hast du dir (?:alles )?(?:gemerkt|notiert) |erinnerst du dich (?:noch )?)(?:über|von|an|zu|zum Thema) (?P<about>.+?)[\s.!?]*",
    r"(?:was hast du dir (?:alles )?(?:gemerkt|notiert)|woran erinnerst du dich(?: noch)?)[\s.!?]*",
    r"(?:zeig|zeige|lies|öffne)(?: mir)?(?: bitte)?(?: dein| mein| das| deine| meine| die) (?:gedächtnis|notizen|erinnerungen)(?: vor| an)?[\s.!?]*",
    r"was steht in (?:deinem|meinem) gedächtnis[\s.!?]*",
)
FORGET = phrases(
    r"(?:forget|delete from (?:my |your |the )?memory|remove from (?:my |your |the )?memory)(?: the things? (?:about|with)| this| that| about| what i said about| what you know about|(?P<all> everything (?:you know )?about| everything with| all lines with| all about))?\s*[:,]?\s+(?P<what>(?!(?:it|this|that)[\s.!]*$).+?)[\s.!]*",
    r"(?:vergiss(?! nicht)|vergesse|lösche aus (?:dem|deinem|meinem) gedächtnis|streiche aus (?:dem|deinem|meinem) gedächtnis)(?: bitte)?(?: das (?:mit|über|von)| dies| das| was du über|(?P<all> alles (?:über|zu|von|mit)| alle zeilen mit))?\s*[:,]?\s+(?:dass )?(?P<what>(?!(?:es|das|dies)[\s.!]*$).+?)(?: weißt)?[\s.!]*",
)


def remember(scene: Scene, match: Taken) -> Step:
    """One line of memory; a wish how to behave is behavior, too."""
    what = match["what"].strip()
    if "remember" not in scene.offered:
        return lacks(scene)
    wish = "update_behavior" in scene.offered and any(each.fullmatch(what) for each in WISH)
    if not scene.results:
        calls: list[tuple[str, dict[str, Any]]] = [("remember", {"text": what})]
        return Use((*calls, ("update_behavior", {"text": what, "add": True})) if wish else tuple(calls))
    faults = [each for each in scene.results if each.trouble or each.card]
    if faults:
        return Say("\n".join(dict.fromkeys(trouble(scene, each) for each in faults)))
    return Say(scene.say(f"Remembered: {quoted(what)}", f"Gemerkt: {quoted(what)}") + _pruning(scene))


def _pruning(scene: Scene) -> str:
    """Above 12 KiB the agent proposes a pruning and does nothing by itself (rule 21)."""
    found = scene.result("remember")
    if not (found and isinstance(found.value, dict) and found.value.get("advice")):
        return ""
    return "\n\n" + scene.say(f"The memory has grown long. {PRUNE_EN}", f"Das Gedächtnis ist lang geworden. {PRUNE_DE}")


def prune(scene: Scene, match: Taken) -> Step:
    """What could go; nothing goes by that."""

    def done(value: Any) -> Step:
        lines = lines_of(value)
        if not lines:
            return Say(scene.say("The memory is short enough; nothing needs to go.", "Das Gedächtnis ist kurz genug; nichts muss weg."))  # fmt: skip
        listed = "\n".join(f"- {quoted(each.removeprefix('- '))}" for each in lines)
        return Say(
            scene.say(
                f"These lines could go; nothing goes unless you say “forget: LINE”:\n\n{listed}",
                f"Diese Zeilen könnten weg; nichts geht, solange du nicht „vergiss: ZEILE“ sagst:\n\n{listed}",
            )
        )

    return through(scene, "propose_pruning", {}, done)


def _arguments(match: Taken) -> dict[str, Any]:
    return {"words": match["about"].strip()} if match["about"] else {}


def recalled(scene: Scene, _: Taken, value: Any) -> str:
    lines = lines_of(value)
    if not lines:
        return scene.say("I have nothing about that in my memory.", "Dazu steht nichts in meinem Gedächtnis.")
    head = scene.say("This is what I remember:", "Daran erinnere ich mich:")
    return head + "\n\n" + "\n".join(each if each.startswith("- ") else f"- {each}" for each in lines)


def lines_of(value: Any) -> list[str]:
    """Lines of a text or a list, however the tool hands them over."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("lines", "text", "found") if value.get(key)), [])
    lines = value.splitlines() if isinstance(value, str) else [str(each) for each in value or []]
    return [each for each in lines if each.strip()]


def forget(scene: Scene, match: Taken) -> Step:
    def done(value: Any) -> Step:
        gone = lines_of(value.get("forgotten") if isinstance(value, dict) and "forgotten" in value else value)
        if not gone:
            return Say(scene.say("I found nothing like that in my memory, so nothing was changed.", "So etwas steht nicht in meinem Gedächtnis; es wurde nichts geändert."))  # fmt: skip
        listed = "\n".join(f"- {quoted(each.removeprefix('- '))}" for each in gone)
        return Say(scene.say(f"Forgotten:\n\n{listed}", f"Vergessen:\n\n{listed}"))

    found = scene.result("forget")
    if found is not None and found.code == "conflict":
        what = quoted(match["what"], 60)
        return Say(f"{trouble(scene, found)}\n\n" + scene.say(f"Or say “forget everything about {what}”.", f"Oder sage „vergiss alles über {what}“."))  # fmt: skip
    arguments: dict[str, Any] = {"words": match["what"].strip()}
    return through(scene, "forget", arguments | ({"several": True} if match["all"] else {}), done)


INTENTS = (
    Intent("propose_pruning", PRUNE, prune, needs=("propose_pruning",)),
    uses("recall", "recall", RECALL, _arguments, recalled),
    Intent("forget", FORGET, forget, needs=("forget",)),
    Intent("remember", REMEMBER, remember, needs=("remember",)),
)
