"""Marks, folders, attachments, and an account that is given up."""

from collections.abc import Mapping
from typing import Any

from services.agent.builtin.domain import Say, Scene, Step, Taken, Use
from services.agent.builtin.intent import lacks, quoted, through
from services.agent.builtin.mail.finding import read, which_mail
from services.agent.builtin.mail.showing import Place, about, marker, picked

_MARKS: Mapping[str, tuple[str, bool]] = {
    "read": ("seen", True), "seen": ("seen", True), "gelesen": ("seen", True),
    "unread": ("seen", False), "ungelesen": ("seen", False),
    "important": ("flagged", True), "starred": ("flagged", True), "flagged": ("flagged", True), "star": ("flagged", True),
    "flag": ("flagged", True), "wichtig": ("flagged", True),
    "unimportant": ("flagged", False), "not important": ("flagged", False), "unstar": ("flagged", False), "unflag": ("flagged", False),
    "unwichtig": ("flagged", False), "nicht wichtig": ("flagged", False),
    "answered": ("answered", True), "done": ("answered", True), "beantwortet": ("answered", True), "erledigt": ("answered", True),
}  # fmt: skip
_ROLES = {
    "archive": "archive",
    "archiv": "archive",
    "trash": "trash",
    "papierkorb": "trash",
    "junk": "junk",
    "spam": "junk",
    "inbox": "inbox",
    "posteingang": "inbox",
}
_AWAY = {"archive": "archive", "archiviere": "archive", "archivier": "archive"}


def flag(scene: Scene, match: Taken) -> Step:
    place = picked(scene, match["which"])
    if place is None:
        return Say(which_mail(scene))
    name, on = _MARKS[" ".join(match["flag"].casefold().split())]
    wanted = {
        "account": place.account,
        "folder": place.folder,
        "uids": [place.uid],
        ("add" if on else "remove"): [name],
    }
    words = quoted(match["flag"], 40) if match["flag"].casefold() not in ("star", "unstar", "flag", "unflag") else name
    said = scene.say(
        f"Done: marked as {words}." if on or words != name else "Done: the mark is gone.",
        f"Erledigt: als {words} markiert.",
    )
    return about(place, through(scene, "email_flag", wanted, lambda _: Say(said)))


def move(scene: Scene, match: Taken) -> Step:
    return _move(scene, match, match["to"].strip())


def put_away(scene: Scene, match: Taken) -> Step:
    return _move(scene, match, _AWAY.get(match["how"].casefold(), "trash"))


def save(scene: Scene, match: Taken) -> Step:
    """One attachment, or all that there are."""
    place = picked(scene, match["which"] or match["which2"])
    if place is None:
        return Say(which_mail(scene))
    numbers = _numbers(place)

    def then(told: Any) -> Step:
        files = told.get("attachments") or []
        if not files:
            return Say(scene.say("This mail has no attachment.", "Diese Mail hat keinen Anhang."))
        wanted = int(match["number"] or 0)
        if not wanted and len(files) > 1 and match["path"]:
            return Say(
                scene.say(
                    "It has several attachments; say which: “save attachment 2 as …”.",
                    "Sie hat mehrere Anhänge; sage, welchen: „speichere Anhang 2 als …“.",
                )
            )
        return _save(
            scene, place, [wanted] if wanted else [int(each["number"]) for each in files], match["path"].strip()
        )

    return about(place, read(scene, numbers, then))


def remove_account(scene: Scene, match: Taken) -> Step:
    def done(value: Any) -> Step:
        name = quoted(str(value["removed"]), 80)
        return Say(
            scene.say(
                f"The mail account {name} is removed, and its passwords are deleted here.",
                f"Das Mailkonto {name} ist entfernt, und seine Passwörter sind hier gelöscht.",
            )
        )

    return through(scene, "email_remove_account", {"account": match["account"].strip()}, done)


def _move(scene: Scene, match: Taken, wanted: str) -> Step:
    """To a folder that is there: by its name in any case, or by what it is for."""
    place = picked(scene, match["which"])
    if place is None:
        return Say(which_mail(scene))

    def then(value: Any) -> Step:
        to = _folder(value["folders"], wanted)
        if to is None:
            names = ", ".join(f"`{quoted(str(each['name']), 60)}`" for each in value["folders"][:30])
            return Say(
                scene.say(
                    f"There is no folder {quoted(wanted, 60)}; there are {names}.",
                    f"Es gibt keinen Ordner {quoted(wanted, 60)}; es gibt {names}.",
                )
                + f"\n\n{marker(place)}"
            )
        arguments = {"account": place.account, "folder": place.folder, "uids": [place.uid], "to": to}
        said = scene.say(f"Moved to `{quoted(to, 60)}`.", f"Nach `{quoted(to, 60)}` verschoben.")
        moved = through(scene, "email_move", arguments, lambda _: Say(said))
        return moved if isinstance(moved, Say) and moved.text == said else about(place, moved)

    found = through(scene, "email_folders", {"account": place.account}, then)
    return about(place, found) if scene.result("email_move") is None else found


def _folder(folders: list[Mapping[str, Any]], wanted: str) -> str | None:
    name = wanted.casefold()
    by_name = next((str(each["name"]) for each in folders if str(each["name"]).casefold() == name), None)
    role = _ROLES.get(name)
    return by_name or next((str(each["name"]) for each in folders if role and each.get("special") == role), None)


def _save(scene: Scene, place: Place, numbers: list[int], path: str) -> Step:
    saved = [each for each in scene.results if each.tool == "email_save_attachment"]
    if len(saved) < len(numbers) and not any(each.trouble or each.card for each in saved):
        given = _numbers(place) | {"number": numbers[len(saved)]} | ({"path": path} if path else {})
        return _next(scene, given)
    bad = next((each for each in saved if each.trouble or each.card), None)
    if bad is not None:
        return Say(scene.say(f"That did not work: {bad.trouble}", f"Das hat nicht geklappt: {bad.trouble}"))
    names = ", ".join(f"`{quoted(str(each.value['path']), 200)}`" for each in saved)
    return Say(scene.say(f"Saved as {names}.", f"Gespeichert als {names}.") + f"\n\n{marker(place)}")


def _next(scene: Scene, given: Mapping[str, Any]) -> Step:
    return Use((("email_save_attachment", given),)) if "email_save_attachment" in scene.offered else lacks(scene)


def _numbers(place: Place) -> dict[str, Any]:
    return {"account": place.account, "folder": place.folder, "uid": place.uid}
