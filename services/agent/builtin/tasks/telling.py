"""What the built-in model says of reminders, automations and their times: in the owner's zone and in UTC (rule 7)."""

from datetime import datetime
from typing import Any

from services.agent.builtin.domain import Scene
from services.agent.builtin.intent import bullets, quoted

HINT_EN, HINT_DE = "Not right? Say for example “no, at 8”.", "Stimmt es nicht? Sage zum Beispiel „nein, um 8“."
_DAYS = {"en": "Mon Tue Wed Thu Fri Sat Sun", "de": "Mo Di Mi Do Fr Sa So"}
_STATES = {
    "waiting": ("waits for a decision", "wartet auf eine Entscheidung"), "paused": ("paused", "pausiert"), "ended": ("over", "beendet"),
    "claimed": ("begun", "begonnen"), "running": ("running", "läuft"), "done": ("done", "erledigt"), "failed": ("failed", "fehlgeschlagen"),
    "skipped": ("skipped", "übersprungen"), "missed": ("missed", "verpasst"), "interrupted": ("interrupted", "unterbrochen"),
}  # fmt: skip


def local(scene: Scene, text: str) -> str:
    """`2027-03-28T03:00:00+02:00` as people write it."""
    try:
        at = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return quoted(str(text), 40)
    day = _DAYS[scene.lang].split()[at.weekday()]
    clock = at.strftime("%H:%M:%S" if at.second else "%H:%M")
    return f"{day} {at:%d.%m.%Y} {clock}" if scene.lang == "de" else f"{day} {at.day} {at:%b %Y} {clock}"


def tasks_of(value: Any) -> list[dict[str, Any]]:
    found = value.get("tasks", []) if isinstance(value, dict) else []
    return [each for each in found if isinstance(each, dict) and each.get("task_id")]


def confirmed(scene: Scene, value: Any) -> str:
    """What was understood, the next five times, and what may surprise."""
    task = value.get("task", {}) if isinstance(value, dict) else {}
    head = scene.say("I'll remind you", "Ich erinnere dich") if task.get("kind") != "automation" else scene.say("I'll do it", "Ich mache es")  # fmt: skip
    title = quoted(str(task.get("title", "")), 120)
    said = f"{head}: {scene.say(f'“{title}”', f'„{title}“')} – {quoted(str(task.get('when', '')), 300)} ({task.get('zone')})."
    if task.get("state") == "paused":
        said += scene.say(" It is paused.", " Sie ist pausiert.")
    hint = scene.say(HINT_EN, HINT_DE)
    return "\n\n".join(each for each in (said, times(scene, value), _guest(scene), hint) if each)


def times(scene: Scene, value: Any) -> str:
    lines = value.get("next", []) if isinstance(value, dict) else []
    found = [_time(scene, each) for each in lines if isinstance(each, dict)]
    notes = [quoted(str(each), 300) for each in value.get("notes", [])] if isinstance(value, dict) else []
    told = scene.say("Next:", "Nächste Zeiten:") + "\n\n" + bullets(found) if found else ""
    if notes:
        told += ("\n\n" if told else "") + scene.say("Note: ", "Hinweis: ") + " ".join(each if each.endswith(".") else f"{each}." for each in notes)  # fmt: skip
    return told


def _time(scene: Scene, line: dict[str, Any]) -> str:
    note = f" – {quoted(str(line['note']), 200)}" if line.get("note") else ""
    return f"{local(scene, str(line.get('local')))} ({line.get('utc')}){note}"


def _guest(scene: Scene) -> str:
    if not scene.is_guest:
        return ""
    return scene.say("As you are a guest, it comes only while this page is open, and nothing of it is kept.", "Da du Gast bist, kommt sie nur, solange diese Seite offen ist, und nichts davon wird aufbewahrt.")  # fmt: skip


def numbered(scene: Scene, tasks: list[dict[str, Any]]) -> str:
    return "\n".join(f"{number}. {_task(scene, each)}" for number, each in enumerate(tasks, 1))


def _task(scene: Scene, task: dict[str, Any]) -> str:
    state = str(task.get("state"))
    coming = scene.say(f"next {local(scene, task['next_local'])}", f"nächstes Mal {local(scene, task['next_local'])}") if task.get("next_local") else ""  # fmt: skip
    what = scene.say(*_STATES[state]) if state in _STATES else coming
    robot = scene.say("automation, ", "Automation, ") if task.get("kind") == "automation" else ""
    return f"**{quoted(str(task.get('title')), 80)}** – {robot}{quoted(str(task.get('when')), 200)} ({task.get('zone')}){'; ' if what else ''}{what}"


def all_of(scene: Scene, value: Any) -> str:
    tasks = tasks_of(value)
    if not tasks:
        return scene.say("You have no reminders or automations.", "Du hast keine Erinnerungen oder Automationen.")
    more = int(value.get("of", 0)) - len(tasks) if isinstance(value, dict) else 0
    rest = scene.say(f"\n\nAnd {more} more.", f"\n\nUnd {more} weitere.") if more > 0 else ""
    return (
        scene.say("Your reminders and automations:", "Deine Erinnerungen und Automationen:")
        + "\n\n"
        + numbered(scene, tasks)
        + rest
    )


def next_of(scene: Scene, value: Any) -> str:
    task = next((each for each in tasks_of(value) if each.get("next_local")), None)
    if task is None:
        return scene.say("Nothing is coming up.", "Es steht nichts an.")
    return scene.say("Next comes ", "Als Nächstes kommt ") + _task(scene, task)


def runs_of(scene: Scene, value: Any, *, missed: bool) -> str:
    """What became of times, newest first, each with its reason."""
    runs = [each for each in value.get("runs", []) if isinstance(each, dict)] if isinstance(value, dict) else []
    if not runs:
        return scene.say("Nothing was missed.", "Es wurde nichts verpasst.") if missed else scene.say("It has not run yet.", "Sie ist noch nicht gelaufen.")  # fmt: skip
    head = scene.say("Missed, late or failed:", "Verpasst, verspätet oder fehlgeschlagen:") if missed else scene.say("What became of it:", "Was daraus wurde:")  # fmt: skip
    return head + "\n\n" + bullets([_run(scene, each) for each in runs])


def _run(scene: Scene, run: dict[str, Any]) -> str:
    state = str(run.get("state"))
    said = scene.say(*_STATES.get(state, (state, state)))
    why = "; ".join(quoted(str(run[name]), 200) for name in ("reason", "note", "error") if run.get(name))
    output = f" – “{quoted(str(run['output']), 300)}”" if run.get("output") else ""
    return f"{local(scene, str(run.get('due_local')))}: **{quoted(str(run.get('title')), 80)}** {said}{f' ({why})' if why else ''}{output}"
