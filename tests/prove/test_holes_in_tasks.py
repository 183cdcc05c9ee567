"""Tasks laid open behind the agent's back: prove finds what could then fire twice, for somebody else, or without the lease."""

import pytest

from infra.prove.areas.tasks import check_loop, check_rows
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, see

pytestmark = pytest.mark.stack
_KEY = "owner_kind, owner_id, task_id"
_HASH = "CHECK (kind <> 'automation' OR (card_id IS NOT NULL AND instruction_hash = encode(sha256(convert_to(text, 'UTF8')), 'hex')))"
_FAR = "now() + interval '1 day'"
_TASK = f"INSERT INTO core.tasks (owner_kind, owner_id, task_id, kind, title, text, rule, zone, words, state, next_at, notify, misfire, window_s, overlap) VALUES ('user', 'planted', '00000000-0000-4000-8000-0000000000aa', 'reminder', 'x', 'x', '{{}}', 'UTC', 'x', 'active', {_FAR}, true, 'latest', 60, 'skip')"
_GONE = "DELETE FROM core.tasks WHERE owner_id = 'planted'\nDELETE FROM app.due_tasks WHERE task_id = '00000000-0000-4000-8000-0000000000aa'"


def hole(name: str, found_by: str, plant: str, heal: str) -> Hole:
    return by_sql(name, check_rows, found_by, "agent_db", plant, heal)


def asleep(name: str, found_by: str, trigger: str, table: str) -> Hole:
    return hole(
        name, found_by, f"ALTER TABLE core.{table} DISABLE TRIGGER {trigger}", f"ALTER TABLE core.{table} ENABLE ALWAYS TRIGGER {trigger}"
    )  # fmt: skip


def granted(name: str, found_by: str, right: str) -> Hole:
    return hole(name, found_by, f"GRANT {right} TO agent", f"REVOKE {right} FROM agent")


def standing(name: str, found_by: str, plant: str) -> Hole:
    return by_sql(name, check_loop, found_by, "agent_db", plant, _GONE)


HOLES = [
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
    standing("a task that is due in a stranger's name", "in its owner's name", f"{_TASK}\nINSERT INTO app.due_tasks VALUES ('00000000-0000-4000-8000-0000000000aa', 'user', 'stranger', {_FAR}, 1)"),
    standing("a task that nobody looks at", "due then, and nothing else", _TASK),
    standing("a run under a number that nobody had", "that nobody has had", f"{_TASK}\nINSERT INTO app.due_tasks VALUES ('00000000-0000-4000-8000-0000000000aa', 'user', 'planted', {_FAR}, 1)\nALTER TABLE core.task_runs DISABLE TRIGGER only_by_lease\nINSERT INTO core.task_runs (owner_kind, owner_id, task_id, nominal_at, state, fence) VALUES ('user', 'planted', '00000000-0000-4000-8000-0000000000aa', now(), 'done', 1000000)\nALTER TABLE core.task_runs ENABLE ALWAYS TRIGGER only_by_lease"),
]  # fmt: skip


@pytest.mark.parametrize("planted", named(HOLES))
def test_a_planted_hole_in_tasks_is_found(proving: Proving, planted: Hole) -> None:
    see(planted, proving.stack)
