"""Which task is meant: by its id, or by words of its title, text or schedule. Pure."""

from collections.abc import Sequence

from services.agent.tasks.domain import Task
from shared.errors import Conflict, NotFound

MOST_NAMED = 5


def find_task(tasks: Sequence[Task], meant: str) -> Task:
    """Exact titles first, then what holds all of the words. NotFound for none, Conflict (code `several`) when it could be more than one."""
    wanted = " ".join(meant.split()).casefold()
    found = [each for each in tasks if str(each.task_id) == wanted]
    found = found or [each for each in tasks if wanted in (each.title.casefold(), each.text.casefold())]
    found = found or [each for each in tasks if _holds(each, wanted)]
    if not found:
        raise NotFound("There is no such task; list them to see which there are.", code="task")
    if len(found) > 1:
        named = "; ".join(map(_named, found[:MOST_NAMED]))
        more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        raise Conflict(f"{len(found)} tasks fit: {named}{more}. Say which one; nothing was changed.", code="several")
    return found[0]


def _named(task: Task) -> str:
    """An error taints nothing, so it says no word that text from outside may have chosen (S11)."""
    return (
        f"{task.task_id} ({task.words}), made after reading text from outside"
        if task.sources
        else f"{task.title} ({task.words})"
    )


def _holds(task: Task, wanted: str) -> bool:
    text = f"{task.title}\n{task.text}\n{task.words}".casefold()
    return bool(wanted) and all(word in text for word in wanted.split())
