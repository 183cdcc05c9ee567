"""Files as links: one's own, or for whoever has the link; which there are, and taking them back. "That file" is the one that was talked of last."""

import re
from typing import Any

from services.agent.builtin.domain import Intent, Say, Scene, Step, Taken
from services.agent.builtin.intent import bullets, phrases, quoted, through, uses

_NAME = r"[\"'“„`]?(?P<name>[^\s\"'“”„`:](?:[^\n\"“”„`:]*?[^\s\"“”„`:?!.])?)[\"'”“`]?"
_THAT = r"(?P<that>(?:that|this|the|it)(?: file| one)?|(?:das|die|sie|es|ihn|diese)(?: datei)?)"
_TIME = r"(?:(?P<days>\d{1,2}) (?:days?|tage?)|(?P<week>a week|eine woche)|(?P<month>a month|einen monat))"
_LIFE = rf"(?: (?:for|für) {_TIME})?"
_WHOM = (
    r"(?P<anybody>(?:for|that works for) (?:anybody|anyone|everybody|everyone)|(?:that works )?without (?:signing in|a login)"
    r"|to (?:pass on|share|send on)|(?:to send )?by (?:e-?mail|mail)|for (?:an? |the )?(?:e-?mail|mail)|für (?:alle|jeden|jedermann)"
    r"|ohne anmeldung|zum (?:weitergeben|verschicken|teilen)|(?:per|für eine) (?:e-?mail|mail))"
)
_END = rf"(?: {_WHOM})?{_LIFE}(?:,? (?:please|bitte))?[\s.!?]*"
_NOW = r"(?!.*\b(?:every|each|daily|weekly|monthly|jede[nrsm]?|täglich|wöchentlich|monatlich|tomorrow|tonight|morgen|heute)\b)(?!.* (?:at|um|in|on|am) \d)"
"""What is to be done at another time is a task."""
_GIVE = r"(?:give|send|make|get|create|offer|show|i need|i want|i would like|i['’]d like|(?:can|could|may) i (?:have|get))(?: me)?"
_GIB = r"(?:gib|gebe|schick|schicke|mach|mache|erstelle|erzeuge|zeig|zeige|ich brauche|ich möchte|ich will|ich hätte gern|kann ich|könnte ich)(?: mir)?(?: bitte)?"
_LINK = r"(?:(?:a|the|einen|den|ein|als) )?(?:(?:download|public|öffentlichen)[ -]?)?link"
OFFER = phrases(
    rf"{_NOW}{_GIVE} {_LINK} (?:to|for|of) {_THAT}{_END}",
    rf"{_NOW}{_GIVE} {_THAT} as (?:a )?(?:download[ -]?)?link{_END}",
    rf"{_NOW}{_GIVE} {_LINK} (?:to|for|of)(?: the| my)?(?: file)? {_NAME}{_END}",
    rf"{_NOW}{_GIVE}(?: the| my)?(?: file)? {_NAME} as (?:a )?(?:download[ -]?)?link{_END}",
    rf"{_NOW}(?:let me |i want to |can i )?download {_THAT}{_END}",
    rf"{_NOW}(?:let me |i want to |can i )?download(?: the| my)?(?: file)? (?!links?\b){_NAME}{_END}",
    rf"{_NOW}{_GIB} {_LINK} (?:zu|zur|für|auf|von|zum) {_THAT}{_END}",
    rf"{_NOW}{_GIB} {_THAT} als (?:download-?)?link{_END}",
    rf"{_NOW}{_GIB} {_LINK} (?:zu|zur|für|auf|von|zum)(?: der| die| meiner| meine)?(?: datei)? {_NAME}{_END}",
    rf"{_NOW}{_GIB}(?: die| meine)?(?: datei)? {_NAME} als (?:download-?)?link{_END}",
    rf"{_NOW}(?:kann ich |könnte ich |ich möchte )?{_THAT} als (?:download-?)?link (?:geben|haben|bekommen|schicken){_END}",
    rf"{_NOW}(?:kann ich |könnte ich |ich möchte )?(?:die |meine )?(?:datei )?{_NAME} als (?:download-?)?link (?:geben|haben|bekommen|schicken){_END}",
    rf"{_NOW}(?:lade|lad)(?: mir)? {_THAT} (?:herunter|runter){_END}",
    rf"{_NOW}(?:lade|lad)(?: mir)?(?: die| meine)?(?: datei)? {_NAME} (?:herunter|runter){_END}",
    rf"{_NOW}(?:ich möchte |ich will |kann ich )(?:die |meine )?(?:datei )?{_NAME} (?:herunterladen|runterladen){_END}",
)
AGAIN = phrases(
    rf"(?:no|nein|rather|lieber)?[, ]*(?:make (?:it|that)|mach (?:ihn|das)|one|einen)?[, ]*{_WHOM}{_LIFE}[\s.!?]*",
    rf"(?:no|nein|rather|lieber)?[, ]*(?:make (?:it|that)|mach (?:ihn|das)|one|einen)?[, ]*(?:for|für) {_TIME}[\s.!?]*",
)
"""After a link was given: another one, for others or for longer."""
LIST = phrases(
    r"(?:list|show)(?: me)?(?: all)?(?: my| the| our)? (?:download[ -]?)?links[\s.!?]*",
    r"(?:which|what) (?:download[ -]?)?links (?:do i have|are there|still work)[\s.!?]*",
    r"(?:zeig|zeige|liste)(?: mir)?(?: bitte)?(?: alle)?(?: meine| die)? (?:download-?)?links(?: an| auf)?[\s.!?]*",
    r"welche (?:download-?)?links (?:habe ich|gibt es|gelten noch)(?: noch)?[\s.!?]*",
)
REVOKE = phrases(
    r"(?:revoke|take back|delete|remove|withdraw|cancel) (?:the|my|that|this|all)(?: download)? ?links? (?:to|for|of)(?: the| my)?(?: file)? (?P<name>\S.*?)[\s.!?]*",
    r"(?:lösche|lösch|widerrufe|entferne)(?: bitte)? (?:den|alle|die|meinen)(?: download-?)? ?links? (?:zu|zur|für|auf|von)(?: der| die| meiner)?(?: datei)? (?P<name>\S.*?)[\s.!?]*",
    r"(?:nimm|ziehe|zieh)(?: bitte)? (?:den|diesen|alle|die)(?: download-?)? ?links? (?:zu|zur|für|auf|von)(?: der| die| meiner)?(?: datei)? (?P<name>\S.*?) zurück[\s.!?]*",
)
REVOKE_IT = phrases(
    r"(?:revoke|take back|delete|remove|withdraw|cancel) (?:it|(?:that|this|the)(?: download)? link)(?: again)?[\s.!?]*",
    r"take (?:it|that link|the link) back[\s.!?]*",
    r"(?:lösche|lösch|widerrufe|entferne)(?: bitte)? (?:ihn|den link|diesen link)(?: wieder)?[\s.!?]*",
    r"(?:nimm|ziehe|zieh)(?: bitte)? (?:ihn|den link|diesen link) (?:wieder )?zurück[\s.!?]*",
)
"""After a link was given."""
_TICKED = re.compile(r"`([^`\n]{1,255})`")
_FILE = re.compile(r"(?<![\w/.:])[\w][\w./-]{0,200}\.[a-zA-Z]\w{0,9}(?![\w/])")
_GIVEN = re.compile(r"\]\(https?://[^)\s]+/(?:downloads|d)/|\A(?:These links work|Diese Links gelten):")


def offer(scene: Scene, match: Taken) -> Step:
    """A link to the named file, or to the one that was talked of."""
    name = match["name"].strip() or talked_of(scene)
    if not name:
        return Say(scene.say("Which file? Say its name, for example: give me notes.md as a link.", "Welche Datei? Sag ihren Namen, zum Beispiel: gib mir notizen.md als Link."))  # fmt: skip
    tool = "offer_download_to_anybody" if match["anybody"] else "offer_download"
    days = _days(match)
    return through(
        scene, tool, {"name": name} | ({"days": days} if days else {}), lambda value: Say(given(scene, value))
    )


def given(scene: Scene, value: Any) -> str:
    label = re.sub(r"[\[\]\\`*_<>]", "", quoted(str(value["name"])))
    link, until = f"[{label}]({value['url']})", _until(value)
    if str(value.get("for", "")).startswith("anybody"):
        return scene.say(
            f"{link}: whoever has this link can fetch `{label}`, without signing in, until {until}. I do not keep it: note it now.",
            f"{link}: Wer diesen Link hat, kann `{label}` ohne Anmeldung abholen, bis {until}. Ich bewahre ihn nicht auf: Notiere ihn jetzt.",
        )
    return scene.say(
        f"{link}: you can fetch `{label}` while you are signed in, until {until}.",
        f"{link}: Du kannst `{label}` abholen, solange du angemeldet bist, bis {until}.",
    )


def listed(scene: Scene, _: Taken, value: Any) -> str:
    links = value.get("links", [])
    if not links:
        return scene.say("There are no download links.", "Es gibt keine Download-Links.")
    lines = [f"`{quoted(str(each['name']))}`, {_whom(scene, each)}, {scene.say('until', 'bis')} {_until(each)}" for each in links]  # fmt: skip
    return scene.say("These links work:", "Diese Links gelten:") + "\n\n" + bullets(lines)


def revoke(scene: Scene, match: Taken) -> Step:
    name = match["name"].strip(" \"'“”„`") or talked_of(scene)
    if not name:
        return Say(scene.say("Which link? Say the file's name.", "Welchen Link? Sag den Namen der Datei."))
    done = scene.say("Taken back; it opens nothing any more:", "Zurückgenommen; er öffnet nichts mehr:")
    return through(scene, "revoke_download", {"name": name}, lambda value: Say(f"{done} `{quoted(str(value['name']))}`"))  # fmt: skip


def talked_of(scene: Scene) -> str:
    """The file that was named last: by the model, else by the person."""
    ticked = _TICKED.findall(scene.before)
    if ticked:
        return str(ticked[-1])
    said = (found for each in scene.earlier for found in reversed(_FILE.findall(each)))
    return next(said, "")


def _days(match: Taken) -> int:
    return int(match["days"]) if match["days"] else 7 if match["week"] else 30 if match["month"] else 0


def _until(value: Any) -> str:
    return f"{str(value['expires_at'])[:16].replace('T', ' ')} UTC"


def _whom(scene: Scene, each: Any) -> str:
    anybody = str(each.get("for", "")).startswith("anybody")
    return scene.say("for anybody who has it", "für alle, die ihn haben") if anybody else scene.say("for you alone", "nur für dich")  # fmt: skip


def _was_given(scene: Scene) -> bool:
    return bool(_GIVEN.search(scene.before))


INTENTS = (
    Intent("offer_download_again", AGAIN, offer, when=_was_given),
    Intent("revoke_that_download", REVOKE_IT, revoke, when=_was_given),
    Intent("revoke_download", REVOKE, revoke, needs=("revoke_download",)),
    uses("list_downloads", "list_downloads", LIST, lambda _: {}, listed),
    Intent("offer_download", OFFER, offer, needs=("offer_download",)),
)
