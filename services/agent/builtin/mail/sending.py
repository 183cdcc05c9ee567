"""Letters: a new one, an answer, one that is passed on. To whom exactly is never guessed; an address that may be taken for another is asked about."""

import re
from collections.abc import Mapping
from typing import Any

from services.agent.builtin.domain import Result, Say, Scene, Step, Taken, Use
from services.agent.builtin.intent import lacks, quoted, trouble
from services.agent.builtin.mail.finding import read, which_mail
from services.agent.builtin.mail.phrases import ADDRESS, SAYING, SEND, SEND_TO
from services.agent.builtin.mail.showing import Place, about, picked

_ADDRESSES = re.compile(ADDRESS)
ASKS_TEXT_EN, ASKS_TEXT_DE = "What shall the mail say?", "Was soll in der Mail stehen?"
LOOKS_EN, LOOKS_DE = "may be taken for another one", "kann man mit einer anderen verwechseln"
_LISTED = re.compile(r"`confirmed`: (?P<all>.+)\Z", re.DOTALL)
LONGEST_SUBJECT = 60


def send(scene: Scene, match: Taken) -> Step:
    return _send(scene, letter(match))


def send_to(scene: Scene, match: Taken) -> Step:
    """Somebody, and nothing to say yet."""
    if "email_send" not in scene.offered:
        return lacks(scene)
    how = scene.say(
        " Answer “subject SUBJECT: TEXT”, or “text: TEXT”.", " Antworte „Betreff BETREFF: TEXT“, oder „Text: TEXT“."
    )
    return Say(scene.say(ASKS_TEXT_EN, ASKS_TEXT_DE) + how)


def saying(scene: Scene, match: Taken) -> Step:
    """The text, after it was asked for."""
    asked = _earlier(scene, SEND_TO)
    if asked is None:
        return Say(
            scene.say(
                "To whom? Say “send a mail to ADDRESS: TEXT”.", "An wen? Sage „schick eine Mail an ADRESSE: TEXT“."
            )
        )
    parts = dict(asked.parts) | {"text": match["text"]} | ({"subject": match["subject"]} if match["subject"] else {})
    return _send(scene, letter(Taken(parts)))


def was_asked_text(scene: Scene) -> bool:
    return scene.before.startswith((ASKS_TEXT_EN, ASKS_TEXT_DE))


def confirm(scene: Scene, match: Taken) -> Step:
    """The user writes the addresses once more, in the form that was shown to them."""
    shown = addresses(match["to"])
    for patterns in (SEND, SEND_TO):
        asked = _earlier(scene, patterns)
        if asked is None:
            continue
        said = _earlier(scene, SAYING)
        parts = dict(asked.parts) | (dict(said.parts) if patterns is SEND_TO and said is not None else {})
        if parts.get("text"):
            return _send(scene, letter(Taken(parts)) | {"confirmed": shown})
    return Say(scene.say("Please say once more what I am to send.", "Bitte sage noch einmal, was ich senden soll."))


def was_asked_whom(scene: Scene) -> bool:
    return LOOKS_EN in scene.before or LOOKS_DE in scene.before


def reply(scene: Scene, match: Taken) -> Step:
    place = picked(scene, match["which"])
    if place is None:
        return Say(which_mail(scene))

    def then(told: Any) -> Step:
        answer = told["answer"]
        more = {"cc": answer["all"]} if match["all"] and answer.get("all") else {}
        wanted = {
            "account": place.account,
            "to": answer["to"],
            "subject": answer["subject"],
            "text": match["text"].strip(),
        }
        return _send(scene, wanted | more | {name: answer[name] for name in ("in_reply_to", "references")})

    return about(place, read(scene, _numbers(place), then))


def forward(scene: Scene, match: Taken) -> Step:
    place = picked(scene, match["which"])
    if place is None:
        return Say(which_mail(scene))

    def then(told: Any) -> Step:
        by = ", ".join(str(each.get("ascii") or each["address"]) for each in told.get("from") or [])
        text = f"{match['text'].strip()}\n\n-----\n{by}, {told.get('date') or ''}:\n\n{told.get('text') or ''}".strip()
        subject = f"Fwd: {told.get('subject') or ''}".strip()
        wanted = {"account": place.account, "to": addresses(match["to"]), "subject": subject, "text": text[:40_000]}
        return _send(scene, wanted)

    return about(place, read(scene, _numbers(place), then))


def letter(match: Taken) -> dict[str, Any]:
    """As email_send takes it. Without a subject its first words stand for one."""
    text, subject = match["text"].strip(), " ".join(match["subject"].split())
    wanted: dict[str, Any] = {
        "to": addresses(match["to"]),
        "text": text,
        "subject": subject or quoted(text, LONGEST_SUBJECT),
    }
    account = (match["account"] or match["account2"]).strip()
    wanted |= {"account": account} if account else {}
    return wanted | ({"attachments": [{"path": match["file"]}]} if match["file"] else {})


def addresses(text: str) -> list[str]:
    return [each.group() for each in _ADDRESSES.finditer(text)]


def _send(scene: Scene, wanted: Mapping[str, Any]) -> Step:
    if "email_send" not in scene.offered:
        return lacks(scene)
    found = scene.result("email_send")
    if found is None:
        return Use((("email_send", wanted),))
    if found.code == "confirm":
        return Say(_doubt(scene, found))
    if found.trouble or found.card:
        return Say(trouble(scene, found))
    to = ", ".join(f"`{quoted(str(each), 120)}`" for each in found.value["recipients"])
    return Say(scene.say(f"Sent to {to}.", f"Gesendet an {to}."))


def _doubt(scene: Scene, found: Result) -> str:
    listed = _LISTED.search(found.trouble)
    shown = ", ".join(addresses(listed["all"])) if listed else ""
    if not shown:
        return trouble(scene, found)
    return scene.say(
        f"Nothing was sent: an address in it {LOOKS_EN}. In ASCII letters they are {shown}. If you mean just that, say “yes, send it to {shown}”.",
        f"Es wurde nichts gesendet: Eine Adresse darin {LOOKS_DE}. In ASCII-Buchstaben: {shown}. Wenn du genau das meinst, sage „ja, sende sie an {shown}“.",
    )


def _numbers(place: Place) -> dict[str, Any]:
    return {"account": place.account, "folder": place.folder, "uid": place.uid}


def _earlier(scene: Scene, patterns: tuple[re.Pattern[str], ...]) -> Taken | None:
    """What was said before, the newest first, that fits."""
    for said in scene.earlier:
        found = next((each for pattern in patterns if (each := pattern.fullmatch(said))), None)
        if found is not None:
            return Taken(found.groupdict(""))
    return None
