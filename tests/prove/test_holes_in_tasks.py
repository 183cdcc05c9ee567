"""Tasks laid open behind the agent's back: prove finds what could then fire twice, for somebody else, or without the lease."""

import asyncio
from collections.abc import Awaitable

import pytest

from infra.prove.areas.tasks import check_loop, check_rows
from infra.prove.check import Book
from infra.prove.target import Target
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, failures, rows

pytestmark = pytest.mark.stack
_KEY = "owner_kind, owner_id, task_id"
_HASH = "CHECK (kind <> 'automation' OR (card_id IS NOT NULL AND instruction_hash = encode(sha256(convert_to(text, 'UTF8')), 'hex')))"
_FAR = "now() + interval '1 day'"


def _id(number: int) -> str:
    return f"00000000-0000-4000-8000-0000000000a{number}"


def _task(number: int) -> str:
    columns = "owner_kind, owner_id, task_id, kind, title, text, rule, zone, words, state, next_at, notify, misfire, window_s, overlap"
    return f"INSERT INTO core.tasks ({columns}) VALUES ('user', 'planted', '{_id(number)}', 'reminder', 'x', 'x', '{{}}', 'UTC', 'x', 'active', {_FAR}, true, 'latest', 60, 'skip')"


def _due(number: int, owner: str) -> str:
    return f"INSERT INTO app.due_tasks VALUES ('{_id(number)}', 'user', '{owner}', {_FAR}, 1)"


_RUN = f"INSERT INTO core.task_runs (owner_kind, owner_id, task_id, nominal_at, state, fence) VALUES ('user', 'planted', '{_id(3)}', now(), 'done', 1000000)"


def hole(name: str, found_by: str, plant: str, heal: str) -> Hole:
    return by_sql(name, check_rows, found_by, "agent_db", plant, heal)


def asleep(name: str, found_by: str, trigger: str, table: str) -> Hole:
    return hole(
        name, found_by, f"ALTER TABLE core.{table} DISABLE TRIGGER {trigger}", f"ALTER TABLE core.{table} ENABLE ALWAYS TRIGGER {trigger}"
    )  # fmt: skip


def granted(name: str, found_by: str, right: str) -> Hole:
    return hole(name, found_by, f"GRANT {right} TO agent", f"REVOKE {right} FROM agent")


def standing(name: str, found_by: str, number: int, plant: str) -> Hole:
    gone = f"DELETE FROM core.tasks WHERE task_id = '{_id(number)}'\nDELETE FROM app.due_tasks WHERE task_id = '{_id(number)}'"
    return by_sql(name, check_loop, found_by, "agent_db", plant, gone)


HOLES = [
    standing("a task that is due in a stranger's name", "in its owner's name", 1, f"{_task(1)}\n{_due(1, 'stranger')}"),
    standing("a task that nobody looks at", "due then, and nothing else", 2, _task(2)),
    standing("a run under a number that nobody had", "that nobody has had", 3, f"{_task(3)}\n{_due(3, 'planted')}\nALTER TABLE core.task_runs DISABLE TRIGGER only_by_lease\n{_RUN}\nALTER TABLE core.task_runs ENABLE ALWAYS TRIGGER only_by_lease"),
    asleep("runs that anybody writes", "a run under an older number", "only_by_lease", "task_runs"),
    asleep("a lease that is stolen by a plain update", "take the lease without a new number", "keep_task_lease", "task_lease"),
    asleep("runs that are rewritten", "rewrite what became of a time", "keep_task_run", "task_runs"),
    granted("a lease that lasts as long as its holder likes", "let the lease last", "UPDATE (expires_at) ON core.task_lease"),
    granted("runs of another day", "a run with a time of its own", "INSERT (at) ON core.task_runs"),
    granted("automations whose hash is changed", "hash after it was allowed", "UPDATE (instruction_hash) ON core.tasks"),
    hole("automations that say other words", "other words than were allowed", "ALTER TABLE core.tasks DROP CONSTRAINT tasks_instruction", f"ALTER TABLE core.tasks ADD CONSTRAINT tasks_instruction {_HASH}"),
    hole("a time that is several rows", "a second run of one time", "ALTER TABLE core.task_runs DROP CONSTRAINT task_runs_pkey", f"ALTER TABLE core.task_runs ADD CONSTRAINT task_runs_pkey PRIMARY KEY ({_KEY}, nominal_at)"),
    hole("tasks that are everybody's", "a task of another owner", "ALTER TABLE core.tasks DISABLE ROW LEVEL SECURITY", "ALTER TABLE core.tasks ENABLE ROW LEVEL SECURITY"),
    hole("tasks that everybody reads", "read another owner's task", "CREATE POLICY open ON core.tasks FOR SELECT USING (true)", "DROP POLICY open ON core.tasks"),
]  # fmt: skip


def examine_all(target: Target, book: Book) -> Awaitable[object]:
    return asyncio.gather(check_rows(target, book), check_loop(target, book))


def test_planted_holes_in_tasks_are_found(proving: Proving) -> None:
    """All at once, each by the attempt that would use it; and nothing is wrong once they are closed."""
    stack, target = proving.stack, Target.load(proving.stack.state)
    try:
        for each in HOLES:
            each.plant(stack)
        found = [f"{check.attempt} {check.got}" for check in failures(rows(examine_all, target))]
    finally:
        for each in reversed(HOLES):
            each.heal(stack)
    missed = [each.name for each in HOLES if not any(each.found_by in row for row in found)]
    assert not missed, found
    left = failures(rows(examine_all, Target.load(stack.state)))
    assert not left, [str(check) for check in left]
