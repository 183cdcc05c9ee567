"""What is said of proposals to the console, in English and German."""

from typing import Any

from services.agent.builtin.domain import Scene
from services.agent.builtin.intent import bullets, quoted
from services.agent.builtin.tasks.telling import local, times

HINT_EN, HINT_DE = (
    "Not right? Say for example “no, every Monday at 4”.",
    "Stimmt es nicht? Sage zum Beispiel „nein, jeden Montag um 4“.",
)
_OPS = {
    "older_than": ("{c} is older than {v} days of 24 hours", "{c} ist älter als {v} Tage zu 24 Stunden"),
    "equals": ("{c} is “{v}”", "{c} ist „{v}“"), "not_equals": ("{c} is not “{v}”", "{c} ist nicht „{v}“"),
    "less": ("{c} is less than {v}", "{c} ist kleiner als {v}"), "greater": ("{c} is greater than {v}", "{c} ist größer als {v}"),
    "one_of": ("{c} is one of {v}", "{c} ist eines von {v}"), "empty": ("{c} is empty", "{c} ist leer"), "not_empty": ("{c} is not empty", "{c} ist nicht leer"),
}  # fmt: skip
_STATES = {
    "handed_in": ("on its way to the console", "auf dem Weg zur Konsole"),
    "waiting": ("waits for an owner or admin", "wartet auf einen Inhaber oder Admin"),
    "accepted": ("accepted", "angenommen"),
    "refused": ("refused", "abgelehnt"),
    "failed": ("could not be carried out", "ließ sich nicht ausführen"),
    "ended": ("over", "beendet"),
}


def job_proposed(scene: Scene, value: Any) -> str:
    """What was understood, when it would run, and that nothing goes before a person has seen the dry run (rules 7, 13)."""
    found: dict[str, Any] = value if isinstance(value, dict) else {}
    what = scene.say(" and ", " und ").join(_condition(scene, each) for each in found.get("conditions", []))
    table = _place(scene, found)
    head = scene.say(
        f"Proposed: rows of {table} go when {what} – {quoted(str(found.get('when', '')), 200)} ({found.get('zone')}).",
        f"Vorgeschlagen: Zeilen von {table} gehen, wenn gilt: {what} – {quoted(str(found.get('when', '')), 200)} ({found.get('zone')}).",
    )
    dates = scene.say(
        "A row without a date stays, and is reported. Days begin and end in your zone.",
        "Eine Zeile ohne Datum bleibt und wird gemeldet. Tage beginnen und enden in deiner Zeitzone.",
    )
    then = scene.say(
        f"The console counts first, without deleting anything (dry run); I tell you here what it finds. It runs only after an owner or admin has switched it on: {found.get('link')}",
        f"Die Konsole zählt zuerst, ohne etwas zu löschen (Probelauf); ich sage dir hier, was sie findet. Er läuft erst, wenn ein Inhaber oder Admin ihn einschaltet: {found.get('link')}",
    )
    return "\n\n".join(each for each in (head, times(scene, found), dates, then, scene.say(HINT_EN, HINT_DE)) if each)


def _place(scene: Scene, found: dict[str, Any]) -> str:
    if found.get("app") == "any":
        return scene.say(f"“{found.get('table')}” (the console looks which app has it)", f"„{found.get('table')}“ (die Konsole sucht, welche App sie hat)")  # fmt: skip
    return f"{found.get('app')}.{found.get('table')}"


def _condition(scene: Scene, each: dict[str, Any]) -> str:
    words = scene.say(*_OPS.get(str(each.get("op")), ("{c} fits", "{c} passt")))
    column = str(each.get("column"))
    said = scene.say("the date of the row", "das Datum der Zeile") if column == "any" else column
    value = ", ".join(each["values"]) if each.get("values") else str(each.get("value", ""))
    return words.format(c=said, v=quoted(value, 80))


def proposed(scene: Scene, value: Any) -> str:
    found: dict[str, Any] = value if isinstance(value, dict) else {}
    title = quoted(str(found.get("title", "")), 120).replace("[", "(").replace("]", ")")
    return scene.say(
        f"Proposed: [{title}]({found.get('link')}). It waits in the console until an owner or admin has decided; I tell you what they say.",
        f"Vorgeschlagen: [{title}]({found.get('link')}). Es wartet in der Konsole, bis ein Inhaber oder Admin entschieden hat; ich sage dir, was sie sagen.",
    )


def tables_of(scene: Scene, value: Any) -> str:
    apps = value.get("apps", []) if isinstance(value, dict) else []
    if not apps:
        return scene.say(
            "I know of no table. Staff let me know of an app in the console, under Apps: its tables and columns, no rows.",
            "Ich kenne keine Tabelle. Mitarbeiter zeigen mir eine App in der Konsole unter Apps: ihre Tabellen und Spalten, keine Zeilen.",
        )
    lines = [f"**{each['app']}.{table['name']}**: {', '.join(one['name'] for one in table['columns'][:30])}" for each in apps for table in each["tables"]]  # fmt: skip
    return scene.say("These tables I know of, not their rows:", "Diese Tabellen kenne ich, ihre Zeilen nicht:") + "\n\n" + bullets(lines)  # fmt: skip


def outcomes(scene: Scene, value: Any) -> str:
    """How it stands with what was proposed; a job with its dry run and next times."""
    found = value.get("proposals", []) if isinstance(value, dict) else []
    if not found:
        return scene.say("You have proposed nothing to the console through me yet.", "Du hast der Konsole durch mich noch nichts vorgeschlagen.")  # fmt: skip
    return scene.say("What you proposed to the console:", "Was du der Konsole vorgeschlagen hast:") + "\n\n" + bullets([_outcome(scene, each) for each in found])  # fmt: skip


def _outcome(scene: Scene, each: dict[str, Any]) -> str:
    state = str(each.get("state"))
    title = quoted(str(each.get("title", "")), 100).replace("[", "(").replace("]", ")")
    said = scene.say(*_STATES.get(state, (state, state)))
    why = f": “{quoted(str(each['reason']), 200)}”" if each.get("reason") else ""
    return f"[{title}]({each.get('link')}): {said}{why}" + (_job(scene, each) if each.get("about") == "job" else "")


def _job(scene: Scene, each: dict[str, Any]) -> str:
    """Figures that are not known are said to be so (rule 30)."""
    rows = each.get("rows")
    count = scene.say(". Dry run: not known yet", ". Probelauf: noch nicht bekannt")
    if rows is not None:
        stay = each.get("undated") or 0
        count = scene.say(f". Dry run: {rows:,} rows would go, {each.get('bytes') or 0:,} bytes; {stay:,} without a date stay", f". Probelauf: {rows} Zeilen gingen, {each.get('bytes') or 0} Bytes; {stay} ohne Datum bleiben")  # fmt: skip
    when = f"; {quoted(str(each['understood']), 200)}" if each.get("understood") else ""
    coming = ", ".join(local(scene, one) + " UTC" for one in each.get("next", []))
    return count + when + (scene.say("; next ", "; als Nächstes ") + coming if coming else "")
