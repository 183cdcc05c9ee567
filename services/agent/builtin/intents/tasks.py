"""Reminders, what they are about and when, over several turns ("no, at 8"); and automations, which a person has to allow."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schemas.agency import AUTOMATE
from services.agent.builtin.domain import Intent, Say, Scene, Step, Taken
from services.agent.builtin.intent import lacks, quoted, through, uses
from services.agent.builtin.tasks import phrases as said
from services.agent.builtin.tasks.asking import Asking, earlier_reminder
from services.agent.builtin.tasks.automating import automate, automate_anew
from services.agent.builtin.tasks.meant import TOOLS, about_tasks, focus, meant
from services.agent.builtin.tasks.telling import HINT_DE, HINT_EN, all_of, confirmed, next_of, runs_of
from shared.schedules.words import corrects, find_schedule, opened

WHEN_EN, WHEN_DE = "When shall I remind you?", "Wann soll ich dich erinnern?"
WHAT_EN, WHAT_DE = "Of what shall I remind you?", "Woran soll ich dich erinnern?"
_NO = re.compile(
    r"(?:no|nope|nein|nee|wrong|falsch|lieber|rather|make (?:it|that)|better|besser|doch)\b", re.IGNORECASE
)
_TEXT = re.compile(
    r"(?:no|nein)[\s,]+(?:to |that |dass |daran,? |an (?:den |die |das )?)(?P<text>\S.{1,500})",
    re.IGNORECASE | re.DOTALL,
)


def remind(scene: Scene, match: Taken) -> Step:
    if "create_reminder" not in scene.offered:
        return lacks(scene)
    if not match["when"]:
        return Say(scene.say(f"{WHEN_EN} Say for example “tomorrow at 8” or “every Sunday at 7”.", f"{WHEN_DE} Sage zum Beispiel „morgen um 8“ oder „jeden Sonntag um 7“."))  # fmt: skip
    what = match["what"] or (scene.say("Wake up", "Aufwachen") if said.WAKING.search(scene.text[:100]) else "")
    return _remind(scene, match["when"], what) if what else Say(scene.say(WHAT_EN, WHAT_DE))


def _remind(scene: Scene, when: str, what: str) -> Step:
    return through(scene, "create_reminder", {"when": when, "text": what}, lambda value: Say(confirmed(scene, value)))


# -- what follows on something ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Following(Intent):
    """Words that mean something only after what was said before: a time, or a text; `when` has seen to that."""

    def match(self, text: str) -> Taken | None:
        return Taken({"text": text})


def _asked_when(scene: Scene) -> bool:
    return (
        (WHEN_EN in scene.before or WHEN_DE in scene.before)
        and earlier_reminder(scene) is not None
        and corrects(scene.text)
    )


def _asked_what(scene: Scene) -> bool:
    return (WHAT_EN in scene.before or WHAT_DE in scene.before) and earlier_reminder(scene) is not None


def _asked(scene: Scene) -> bool:
    return any(each in scene.before for each in (WHEN_EN, WHEN_DE, WHAT_EN, WHAT_DE))


def drop(scene: Scene, match: Taken) -> Step:
    return Say(scene.say("All right, I made no reminder.", "Gut, ich habe keine Erinnerung angelegt."))


def answer_when(scene: Scene, match: Taken) -> Step:
    known = earlier_reminder(scene)
    if known is None:
        return Say(scene.say(WHAT_EN, WHAT_DE))
    return _remind(scene, opened(match["text"]), known[1]) if known[1] else Say(scene.say(WHAT_EN, WHAT_DE))


def answer_what(scene: Scene, match: Taken) -> Step:
    known = earlier_reminder(scene)
    when = known[0] if known else ""
    when = when or next((each for each in scene.earlier if corrects(each)), "")
    return _remind(scene, when, match["text"].strip()) if when else Say(scene.say(WHEN_EN, WHEN_DE))


def _corrects(scene: Scene) -> bool:
    """A time after a task was spoken of; without "no" only right after its times were shown, or were not understood."""
    if not scene.past or scene.past[0].tool not in TOOLS or len(scene.text) > 200:
        return False
    if any(each.fullmatch(scene.text) for each in (*said.PAUSE, *said.RESUME, *said.DELETE)):
        return False  # "delete the second" is no day of the month
    spoken = (
        bool(_NO.match(scene.text)) or HINT_EN in scene.before or HINT_DE in scene.before or bool(scene.past[0].trouble)
    )
    return spoken and (corrects(scene.text) or _TEXT.fullmatch(scene.text) is not None)


def correct(scene: Scene, match: Taken) -> Step:
    """ "No, at 8": of what was made last; or the time that was not understood, said anew."""
    last = scene.past[0]
    if last.tool == "create_reminder" and last.trouble:
        return answer_when(scene, match)
    if last.tool == AUTOMATE:
        return automate_anew(scene, match["text"])
    task = focus(scene)
    if task is None:
        return Say(scene.say("Which one do you mean? “list my reminders” shows them.", "Welche meinst du? „Zeig meine Erinnerungen“ zeigt sie."))  # fmt: skip
    other = _TEXT.fullmatch(match["text"]) if not corrects(match["text"]) else None
    what = {"text": other["text"].strip(), "title": other["text"].strip()[:80]} if other else {"when": match["text"]}
    return _change(scene, str(task["task_id"]), what)


def _change(scene: Scene, task: str, what: dict[str, str]) -> Step:
    return through(scene, "change_task", {"task": task, **what}, lambda value: Say(confirmed(scene, value)))


def _refused(scene: Scene) -> bool:
    return bool(scene.past) and scene.past[0].tool in TOOLS and (HINT_EN in scene.before or HINT_DE in scene.before)


def ask_what_else(scene: Scene, match: Taken) -> Step:
    return Say(scene.say("What shall be different? Say for example “at 8”, “every Monday”, or “delete it”.", "Was soll anders sein? Sage zum Beispiel „um 8“, „jeden Montag“ oder „lösche sie“."))  # fmt: skip


def take_back(scene: Scene, match: Taken) -> Step:
    """Only what was just made goes by a "never mind"."""
    task = focus(scene) if scene.past[0].tool == "create_reminder" else None
    return ask_what_else(scene, match) if task is None else _delete(scene, str(task["task_id"]))


_WHICH = re.compile(r"\A(?:Shall I remind you of that, or|Soll ich dich daran erinnern, oder)")
_REMINDING = re.compile(
    r"(?:yes|ja|please|bitte|just|nur|[,\s])*(?:remind me(?: of (?:it|that))?|(?:the )?first|erinner[en]?(?: mich)?(?: daran)?|(?:daran )?erinnern|das erste)(?:,? (?:please|bitte))?[\s.!]*",
    re.IGNORECASE,
)


def _which(scene: Scene) -> bool:
    """After a time and a text that were said without what to do then."""
    return bool(_WHICH.match(scene.before) and scene.earlier and _REMINDING.fullmatch(scene.text))


def remind_of_that(scene: Scene, match: Taken) -> Step:
    return remind(scene, Taken(dict(zip(("when", "what"), find_schedule(scene.earlier[0]), strict=True))))


# -- what is done with one -------------------------------------------------------------------------------


def on_task(then: Callable[[Scene, str, Taken], Step]) -> Callable[[Scene, Taken], Step]:
    """Finds out which one is meant, then does it."""

    def act(scene: Scene, match: Taken) -> Step:
        task = meant(scene, match)
        return then(scene, task, match) if isinstance(task, str) else task

    return act


def pause(scene: Scene, task: str, match: Taken) -> Step:
    return through(scene, "pause_task", {"task": task}, lambda value: Say(scene.say(f"Paused: “{_title(value)}”. “resume it” lets it go on.", f"Pausiert: „{_title(value)}“. „Setze sie fort“ lässt sie weiterlaufen.")))  # fmt: skip


def _pausing(scene: Scene) -> bool:
    """Nothing else can be paused."""
    return about_tasks(scene) or scene.text[:6].casefold().startswith(("pause ", "pausie"))


def resume(scene: Scene, task: str, match: Taken) -> Step:
    return through(scene, "resume_task", {"task": task}, lambda value: Say(confirmed(scene, value)))


def _delete(scene: Scene, task: str) -> Step:
    return through(scene, "delete_task", {"task": task}, lambda value: Say(scene.say(f"Deleted: “{_title(value)}”.", f"Gelöscht: „{_title(value)}“.")))  # fmt: skip


def change(scene: Scene, task: str, match: Taken) -> Step:
    """ "By an hour" is an hour later."""
    new = match["new"]
    return _change(scene, task, {"when": f"{new} later" if corrects(f"{new} later") and not corrects(new) else new})


def rename(scene: Scene, task: str, match: Taken) -> Step:
    return through(scene, "change_task", {"task": task, "title": match["title"].strip()}, lambda value: Say(scene.say(f"It is called “{_title(value)}” now.", f"Sie heißt jetzt „{_title(value)}“.")))  # fmt: skip


def history(scene: Scene, task: str, match: Taken) -> Step:
    return through(scene, "task_history", {"task": task}, lambda value: Say(runs_of(scene, value, missed=False)))


def when_is(scene: Scene, task: str, match: Taken) -> Step:
    def told(value: Any) -> Step:
        tasks = value.get("tasks", []) if isinstance(value, dict) else []
        mine = [
            each
            for each in tasks
            if task == each.get("task_id") or task.casefold() in str(each.get("title", "")).casefold()
        ]
        return Say(next_of(scene, {"tasks": mine}))

    return through(scene, "list_tasks", {}, told)


def _title(value: Any) -> str:
    task = value.get("task", {}) if isinstance(value, dict) else {}
    return quoted(str(task.get("title", "")), 100)


def _list(scene: Scene, match: Taken, value: Any) -> str:
    return all_of(scene, value)


def delete_all(scene: Scene, match: Taken) -> Step:
    return through(scene, "list_tasks", {}, lambda value: Say(scene.say("I delete one at a time, so that nothing goes by mistake.", "Ich lösche eine nach der anderen, damit nichts aus Versehen verschwindet.") + "\n\n" + all_of(scene, value)))  # fmt: skip


INTENTS: tuple[Intent, ...] = (
    Intent("take_back_task", said.FORGET_IT, take_back, when=_refused),
    Intent("not_that_task", said.NO, ask_what_else, when=_refused),
    Intent("drop_reminder", (*said.FORGET_IT, *said.NO), drop, when=_asked),
    Following("remind_of_that", (), remind_of_that, when=_which),
    Asking("create_reminder", (), remind, needs=("create_reminder",)),
    Asking(AUTOMATE, (), automate, needs=(AUTOMATE,)),
    Following("answer_when", (), answer_when, when=_asked_when),
    Following("answer_what", (), answer_what, when=_asked_what),
    Following("correct_task", (), correct, when=_corrects),
    uses(
        "missed_tasks",
        "task_history",
        said.MISSED,
        lambda _: {},
        lambda scene, _, value: runs_of(scene, value, missed=True),
    ),
    uses(
        "next_task", "list_tasks", said.NEXT, lambda _: {"coming": True}, lambda scene, _, value: next_of(scene, value)
    ),
    uses("list_tasks", "list_tasks", said.LIST, lambda _: {}, _list),
    Intent("delete_all_tasks", said.DELETE_ALL, delete_all, needs=("list_tasks",), when=about_tasks),
    Intent("pause_task", said.PAUSE, on_task(pause), needs=("pause_task",), when=_pausing),
    Intent("resume_task", said.RESUME, on_task(resume), needs=("resume_task",), when=about_tasks),
    Intent("rename_task", said.RENAME, on_task(rename), needs=("change_task",), when=about_tasks),
    Intent("change_task", said.CHANGE, on_task(change), needs=("change_task",), when=about_tasks),
    Intent(
        "delete_task",
        said.DELETE,
        on_task(lambda scene, task, _: _delete(scene, task)),
        needs=("delete_task",),
        when=about_tasks,
    ),
    Intent("when_is_task", said.WHEN_IS, on_task(when_is), needs=("list_tasks",), when=about_tasks),
    Intent("task_history", said.HISTORY, on_task(history), needs=("task_history",), when=about_tasks),
)
