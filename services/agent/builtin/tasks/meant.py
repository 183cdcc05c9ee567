"""Which reminder or automation is meant: "it", "the second", "the tea reminder"; by what tools brought before."""

import re
from typing import Any

from services.agent.builtin.domain import Say, Scene, Step, Taken
from services.agent.builtin.intent import quoted, through
from services.agent.builtin.tasks.phrases import TASK_DE, TASK_EN
from services.agent.builtin.tasks.telling import numbered, tasks_of

TOOLS = frozenset(
    [
        "create_reminder",
        "create_automation",
        "list_tasks",
        "change_task",
        "pause_task",
        "resume_task",
        "delete_task",
        "task_history",
    ]
)
_WORD = re.compile(rf"\b(?:{TASK_EN}|{TASK_DE}|remind\w*|erinner\w*)\b", re.IGNORECASE)
_NTH = {
    word: number
    for number, words in enumerate(
        (
            "first erste",
            "second zweite",
            "third dritte",
            "fourth vierte",
            "fifth fünfte",
            "sixth sechste",
            "seventh siebte",
            "eighth achte",
            "ninth neunte",
            "tenth zehnte",
        ),
        1,
    )
    for word in words.split()
}


def about_tasks(scene: Scene) -> bool:
    """Whether a word without a name can mean a task: it says so, or tasks were what tools were used for last."""
    return bool(_WORD.search(scene.text[:400])) or (bool(scene.past) and scene.past[0].tool in TOOLS)


def focus(scene: Scene) -> dict[str, Any] | None:
    """The task that was spoken of last; None when there is none, or several were."""
    for each in scene.past:
        if each.tool not in TOOLS or not isinstance(each.value, dict):
            continue
        if isinstance(each.value.get("task"), dict):
            return dict(each.value["task"])
        if each.tool == "list_tasks":
            listed = tasks_of(each.value)
            return listed[0] if len(listed) == 1 else None
    return None


def listed(scene: Scene) -> list[dict[str, Any]]:
    """What was listed, for this message or before."""
    for each in (*reversed(scene.results), *scene.past):
        if each.tool == "list_tasks":
            return tasks_of(each.value)
    return []


def meant(scene: Scene, match: Taken) -> str | Step:
    """What a tool takes for `task`; a step when that is to be found out first."""
    name = next((match[each] for each in ("name", "name2", "name3", "name4", "name5") if match[each].strip()), "")
    if name:
        return re.sub(r"^(?:the|my|die|den|das|meine|meinen|der)\s+", "", name.strip(" \"'“”„"), flags=re.IGNORECASE)[
            :300
        ]
    nth = match["nth"] or match["nth2"]
    if not nth and (found := focus(scene)) is not None:
        return str(found["task_id"])
    if scene.result("list_tasks") is None and (not nth or len(listed(scene)) < 2):
        return through(scene, "list_tasks", {}, lambda _: Say(""))
    return _chosen(scene, listed(scene), nth)


def _chosen(scene: Scene, tasks: list[dict[str, Any]], nth: str) -> str | Step:
    if not tasks:
        return Say(scene.say("You have no reminders or automations.", "Du hast keine Erinnerungen oder Automationen."))
    if not nth:
        if len(tasks) == 1:
            return str(tasks[0]["task_id"])
        return Say(scene.say("Which one do you mean?", "Welche meinst du?") + "\n\n" + numbered(scene, tasks))
    place = _place(nth)
    if place is None or not (place == -1 or 1 <= place <= len(tasks)):
        return Say(scene.say(f"There is no number {quoted(nth, 20)}; there are {len(tasks)}.", f"Eine Nummer {quoted(nth, 20)} gibt es nicht; es sind {len(tasks)}."))  # fmt: skip
    return str(tasks[place if place < 0 else place - 1]["task_id"])


def _place(nth: str) -> int | None:
    word = nth.casefold().rstrip(".")
    if digits := re.match(r"[0-9]+", word):
        return int(digits[0])
    if word.startswith(("last", "letzt")):
        return -1
    return _NTH.get(word) or _NTH.get(word.rstrip("nrs"))
