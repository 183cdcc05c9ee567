"""How mail is shown, and which mail is meant afterwards. Everything of a mail's own stands in one line of its own or behind `> `, so that nothing in it can
pass for what we say of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.agent.builtin.domain import Say, Scene, Step
from services.agent.builtin.intent import quoted

MOST_LINES, LONGEST_LINE = 60, 600
_HEAD = re.compile(r"(?P<account>[^·\n]{1,80}) · (?P<folder>[^\n]{1,120}?) · \d+ (?:e-?)?mails?[^\n]*", re.IGNORECASE)
_LINE = re.compile(r"\d+\. .*\((\d{1,10})\)")
_ONE = re.compile(r"Mail (?P<uid>\d{1,10}) · (?P<account>[^·\n]{1,80}) · (?P<folder>[^\n]{1,120})")
_NTH = {
    word: number
    for number, words in enumerate(
        (
            "first erste ersten", "second zweite zweiten", "third dritte dritten", "fourth vierte vierten", "fifth fünfte fünften",
            "sixth sechste sechsten", "seventh siebte siebten", "eighth achte achten", "ninth neunte neunten", "tenth zehnte zehnten",
        ),
        start=1,
    )
    for word in words.split()
}  # fmt: skip
_NEWEST = frozenset({"latest", "newest", "last", "letzte", "letzten", "neueste", "neuesten"})
_THIS = frozenset(
    {
        "it",
        "this",
        "that",
        "him",
        "her",
        "them",
        "sie",
        "diese",
        "es",
        "die",
        "ihn",
        "das",
        "ihm",
        "ihr",
        "dieser",
        "sender",
        "absender",
    }
)


@dataclass(frozen=True)
class Place:
    """One mail, by its number in a folder of an account."""

    account: str
    folder: str
    uid: int


def places_before(scene: Scene) -> tuple[Place, ...]:
    """Those that the model's last reply lists, in its order; of a mail that it showed, that one."""
    lines = scene.before.splitlines()
    head = _HEAD.fullmatch(lines[0]) if lines else None
    if head is not None:
        found = (_LINE.fullmatch(line) for line in lines[1:])
        return tuple(Place(head["account"], head["folder"], int(each[1])) for each in found if each)
    one = _ONE.fullmatch(lines[-1]) if lines else None
    return (Place(one["account"], one["folder"], int(one["uid"])),) if one else ()


def is_list(scene: Scene) -> bool:
    return _HEAD.match(scene.before) is not None


def about_mail(scene: Scene) -> bool:
    """Whether the last reply was about mails that can be meant by "it" or "the second"."""
    return bool(places_before(scene))


def nth(which: str) -> int | None:
    """Which of a list: 1 is the first; 0: the only one there is ("it"). None: these words say nothing of the kind."""
    words = re.findall(r"[^\W_]+", which.casefold())
    for word in words:
        if word in _NTH:
            return _NTH[word]
        if word.isdigit() and len(word) < 4:
            return int(word)
        if word in _NEWEST:
            return 1
    return 0 if not words or set(words) & _THIS or {"mail", "email"} & set(words) else None


def picked(scene: Scene, which: str) -> Place | None:
    """The mail that is meant; None when that is not clear."""
    places, number = places_before(scene), nth(which)
    if number is None or not places:
        return None
    if number == 0:
        return places[0] if len(places) == 1 else None
    return places[number - 1] if is_list(scene) and number <= len(places) else None


def marker(place: Place) -> str:
    return f"Mail {place.uid} · {place.account} · {place.folder}"


def about(place: Place, step: Step) -> Step:
    """The same; what is said keeps in sight which mail it is about, so that the next words can mean it, also when it did not work."""
    if not isinstance(step, Say) or step.text.endswith(marker(place)):
        return step
    return Say(f"{step.text}\n\n{marker(place)}")


def shown_list(scene: Scene, value: Mapping[str, Any]) -> str:
    mails = value.get("mails") or []
    place = f"{value['account']} · {value['folder']}"
    if not mails:
        return scene.say(f"No mail was found in {place}.", f"In {place} wurde keine Mail gefunden.")
    of = value.get("of", len(mails))
    count = scene.say(f"{of} mail{'' if of == 1 else 's'}", f"{of} Mail{'' if of == 1 else 's'}")
    more = scene.say(", the newest first:", ", die neuesten zuerst:") if len(mails) > 1 else ":"
    lines = [f"{number}. {_line(scene, each)}" for number, each in enumerate(mails, start=1)]
    return f"{place} · {count}{more}\n\n" + "\n".join(lines)


def shown_mail(scene: Scene, value: Mapping[str, Any]) -> str:
    """Its head, its text behind `> `, and by what it can be meant afterwards."""
    head = [f"“{quoted(str(value.get('subject') or scene.say('(no subject)', '(kein Betreff)')), 200)}”", ""]
    head += [f"- {name}: {text}" for name, text in _facts(scene, value) if text]
    text = [quoted(line, LONGEST_LINE) for line in str(value.get("text") or "").strip().splitlines()]
    body = [f"> {line}".rstrip() for line in text[:MOST_LINES]]
    if len(text) > MOST_LINES or value.get("text_cut") or value.get("cut"):
        body.append(scene.say("> … (more of it lies at the server)", "> … (mehr davon liegt beim Server)"))
    place = Place(str(value["account"]), str(value["folder"]), int(value["uid"]))
    return "\n".join([*head, "", *body, "", marker(place)])


def _facts(scene: Scene, value: Mapping[str, Any]) -> list[tuple[str, str]]:
    files = [
        f"{each['number']}. `{_plain(str(each['name']))}` ({_size(each['bytes'])})"
        for each in value.get("attachments") or []
    ]
    return [
        (scene.say("From", "Von"), _people(value.get("from"))),
        (scene.say("To", "An"), _people(value.get("to"))),
        (scene.say("Date", "Datum"), _when(str(value.get("date") or ""))),
        (scene.say("Attachments", "Anhänge"), ", ".join(files)),
    ]


def _line(scene: Scene, mail: Mapping[str, Any]) -> str:
    flags = mail.get("flags") or []
    new = "" if "seen" in flags else scene.say(", unread", ", ungelesen")
    star = " ★" if "flagged" in flags else ""
    subject = quoted(str(mail.get("subject") or scene.say("(no subject)", "(kein Betreff)")), 100)
    at = _when(str(mail.get("received") or mail.get("date") or ""))
    by = scene.say("from", "von")
    return f"“{subject}”{star}, {by} {_people(mail.get('from'))}{f', {at}' if at else ''}{new} ({mail['uid']})"


def _people(found: Sequence[Mapping[str, Any]] | None) -> str:
    """A name alone says nothing of who it is: the address stands beside it, in ASCII where it has other letters."""
    shown = []
    for each in (found or [])[:5]:
        name, address = (
            quoted(str(each.get("name") or ""), 60),
            quoted(str(each.get("ascii") or each.get("address") or ""), 100),
        )
        shown.append(f"{name} `{_plain(address)}`" if name else f"`{_plain(address)}`")
    return ", ".join(shown)


def _plain(text: str) -> str:
    return quoted(text, 120).replace("`", "'")


def _size(size: int) -> str:
    return (
        f"{size} B" if size < 1024 else f"{size / 1024:.0f} KiB" if size < 1024 * 1024 else f"{size / 1048576:.1f} MiB"
    )


def _when(text: str) -> str:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return ""
    return f"{at:%Y-%m-%d %H:%M}"
