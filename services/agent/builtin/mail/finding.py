"""Accounts, folders, lists and single mails: what is looked for, and how it is told."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from services.agent.builtin.domain import Say, Scene, Step, Taken
from services.agent.builtin.intent import bullets, quoted, through
from services.agent.builtin.mail.phrases import LIST, SEARCH
from services.agent.builtin.mail.showing import (
    Place,
    about,
    is_list,
    nth,
    picked,
    places_before,
    shown_list,
    shown_mail,
)

_UNREAD = re.compile(r"new|unread|neue|ungelesen", re.IGNORECASE)
_STARRED = re.compile(r"starred|flagged|wichtig|markiert", re.IGNORECASE)
_SENDER, _SUBJECT, _TO = {"from", "by", "von"}, {"with the subject", "mit dem betreff"}, {"to", "an"}
SEVERAL = "You have several mail accounts"
"""How the tool's word begins when it must be told which account."""


def accounts(scene: Scene, match: Taken) -> Step:
    def done(value: Any) -> Step:
        found = value.get("accounts") or []
        if not found:
            return Say(no_account(scene))
        lines = [
            f"{quoted(each['account'], 80)}: `{quoted(each['address'], 120)}`{_able(scene, each)}" for each in found
        ]
        return Say(scene.say("Your mail accounts:", "Deine Mailkonten:") + "\n\n" + bullets(lines))

    return through(scene, "email_accounts", {}, done)


def adding(scene: Scene, match: Taken) -> Step:
    return Say(
        scene.say(
            "You add it yourself on the console, on your own page under “Mail accounts”: label, servers, user name and password. The password is sealed there"
            " and never goes through this chat; please don't tell it to me.",
            "Das machst du selbst in der Konsole, auf deiner eigenen Seite unter „Mail accounts“: Bezeichnung, Server, Benutzername und Passwort. Das Passwort wird"
            " dort versiegelt und geht nie durch diesen Chat; bitte sage es mir nicht.",
        )
    )


def no_account(scene: Scene) -> str:
    return scene.say(
        "You have no mail account here yet. You can add one on the console, on your own page under “Mail accounts”.",
        "Du hast hier noch kein Mailkonto. Du kannst eines in der Konsole hinzufügen, auf deiner eigenen Seite unter „Mail accounts“.",
    )


def folders(scene: Scene, match: Taken) -> Step:
    def done(value: Any) -> Step:
        names = [quoted(str(each["name"]), 100) for each in value["folders"]]
        head = scene.say(f"Folders of {value['account']}:", f"Ordner von {value['account']}:")
        return Say(f"{head}\n\n" + bullets([f"`{each.replace('`', chr(39))}`" for each in names]))

    return through(scene, "email_folders", {"account": match["account"].strip()}, done)


def listing(scene: Scene, match: Taken) -> Step:
    return _search(scene, list_arguments(match))


def searching(scene: Scene, match: Taken) -> Step:
    return _search(scene, search_arguments(match))


def in_account(scene: Scene, match: Taken) -> Step:
    """Which account, after it was asked for: what was asked before is done in that one."""
    asked = asked_before(scene)
    return _search(
        scene, {**asked, "account": match["account"].strip()} if asked else {"account": match["account"].strip()}
    )


def was_asked_which(scene: Scene) -> bool:
    return SEVERAL in scene.before


def reading(scene: Scene, match: Taken) -> Step:
    """By the list that was shown; when there is none any more, by what was asked for before."""
    place = picked(scene, match["which"])
    if place is not None:
        return about(place, read(scene, {"account": place.account, "folder": place.folder, "uid": place.uid}))
    number = nth(match["which"])
    if match["words"]:
        return _first_of(scene, {"sender": match["words"].strip()}, number or 1)
    asked = asked_before(scene)
    if number and (asked is not None or not places_before(scene)):
        return _first_of(scene, asked or {}, number)
    return Say(which_mail(scene))


def which_mail(scene: Scene) -> str:
    if is_list(scene):
        return scene.say("Which one? Say “the second”, for example.", "Welche? Sage zum Beispiel „die zweite“.")
    return scene.say(
        "Which mail? Say “show my mails” first, then for example “the second”.",
        "Welche Mail? Sage zuerst „zeig meine Mails“, dann zum Beispiel „die zweite“.",
    )


def read(scene: Scene, arguments: Mapping[str, Any], then: Callable[[Any], Step] | None = None) -> Step:
    return through(scene, "email_read", arguments, then or (lambda value: Say(shown_mail(scene, value))))


def _first_of(scene: Scene, asked: Mapping[str, Any], number: int) -> Step:
    def found(value: Any) -> Step:
        mails = value.get("mails") or []
        if number > len(mails):
            return Say(shown_list(scene, value))
        place = Place(str(value["account"]), str(value["folder"]), int(mails[number - 1]["uid"]))
        where = {
            "account": place.account,
            "folder": place.folder,
            "uidvalidity": value["uidvalidity"],
            "uid": place.uid,
        }
        return about(place, read(scene, where))

    return through(scene, "email_search", asked, found)


def asked_before(scene: Scene) -> dict[str, Any] | None:
    """What was listed or searched for last, as the tool takes it."""
    for said in scene.earlier:
        for patterns, read_it in ((SEARCH, search_arguments), (LIST, list_arguments)):
            found = next((each for pattern in patterns if (each := pattern.fullmatch(said))), None)
            if found is not None:
                return read_it(Taken(found.groupdict("")))
    return None


def list_arguments(match: Taken) -> dict[str, Any]:
    return _where(match) | _kind(match["kind"])


def search_arguments(match: Taken) -> dict[str, Any]:
    by, words = " ".join(match["by"].casefold().split()), " ".join(match["words"].split())
    field = "sender" if by in _SENDER else "subject" if by in _SUBJECT else "to" if by in _TO else "text"
    return _where(match) | _kind(match["kind"]) | {field: words}


def _search(scene: Scene, arguments: Mapping[str, Any]) -> Step:
    return through(scene, "email_search", arguments, lambda value: Say(shown_list(scene, value)))


def _where(match: Taken) -> dict[str, Any]:
    found = {"account": match["account"].strip(), "folder": match["folder"].strip()}
    return {name: text for name, text in found.items() if text}


def _kind(words: str) -> dict[str, Any]:
    found: dict[str, Any] = {"seen": False} if _UNREAD.search(words) else {}
    return found | ({"flagged": True} if _STARRED.search(words) else {})


def _able(scene: Scene, account: Mapping[str, Any]) -> str:
    if account["reads"] and account["sends"]:
        return ""
    return (
        scene.say(", only to read", ", nur zum Lesen")
        if account["reads"]
        else scene.say(", only to send", ", nur zum Senden")
    )
