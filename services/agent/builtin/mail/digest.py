"""The newest mails in a few words each: what a person asks for, or an automation every morning."""

import re
from collections.abc import Mapping
from typing import Any

from services.agent.builtin.domain import Result, Say, Scene, Step, Taken, Use
from services.agent.builtin.intent import phrases, quoted, through, trouble
from services.agent.builtin.side import summary

MOST_MAILS, LONGEST = 5, 240
_NEW = re.compile(r"new|unread|neue|ungelesen", re.IGNORECASE)
_KIND = r"(?P<kind>(?: new| unread| latest| newest| last| recent| neuen?| neuer| neuesten?| ungelesenen?| ungelesener| letzten?)*)"
_MAILS = r"(?:e-?mails?|mails?|inbox|mailbox|posteingangs?|postfachs?)"
DIGEST = phrases(
    rf"(?:summari[sz]e|sum up|(?:give|send|show|write)(?: me)? (?:a|the) (?:short )?summary of|tell me what(?:['’]s| is)(?: new)? in)(?: me)?(?: all| my| the| our)*{_KIND} {_MAILS}[\s.!?]*",
    rf"(?:fass|fasse)(?: mir)?(?: bitte)?(?: alle| meine| meinen| die| den| das)*{_KIND} {_MAILS}(?: kurz)? zusammen[\s.!?]*",
    rf"(?:gib|schick|schicke|sende|schreib|schreibe|zeig|zeige)(?: mir)?(?: bitte)? (?:eine|die) (?:kurze )?zusammenfassung(?: von)?(?: aller| meiner| meines| meinen| der| des| den)*{_KIND} {_MAILS}[\s.!?]*",
)


def digest(scene: Scene, match: Taken) -> Step:
    """Looked for, then read one by one; a mail's words are quoted, in one line, and nothing in them is done."""
    asked: dict[str, Any] = {"limit": MOST_MAILS} | ({"seen": False} if _NEW.search(match["kind"]) else {})

    def found(value: Any) -> Step:
        mails = (value.get("mails") or [])[:MOST_MAILS]
        if not mails:
            return Say(scene.say("There is no such mail.", "Es gibt keine solche Mail."))
        read = [each for each in scene.results if each.tool == "email_read"]
        if read:
            return Say(_told(scene, value, read))
        where = {"account": value["account"], "folder": value["folder"], "uidvalidity": value["uidvalidity"]}
        return Use(tuple(("email_read", where | {"uid": each["uid"]}) for each in mails))

    return through(scene, "email_search", asked, found)


def _told(scene: Scene, value: Mapping[str, Any], read: list[Result]) -> str:
    of = int(value.get("of", len(read)))
    head = scene.say(
        f"{len(read)} of {of} mail{'' if of == 1 else 's'} in {value['account']}; these are other people's words:",
        f"{len(read)} von {of} Mail{'' if of == 1 else 's'} in {value['account']}; das sind Worte anderer Leute:",
    )
    return head + "\n\n" + "\n".join(f"- {_line(scene, each)}" for each in read)


def _line(scene: Scene, read: Result) -> str:
    if read.trouble or not isinstance(read.value, dict):
        return trouble(scene, read)
    sender = (read.value.get("from") or [{}])[0]
    who = quoted(str(sender.get("name") or sender.get("ascii") or sender.get("address") or "?"), 80)
    subject = quoted(str(read.value.get("subject") or scene.say("(no subject)", "(kein Betreff)")), 100)
    return f"**{subject}**, {scene.say('from', 'von')} {who}: “{quoted(summary(str(read.value.get('text') or ''), 2), LONGEST)}”"
