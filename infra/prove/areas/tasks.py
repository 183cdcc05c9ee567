"""Area tasks: one process fires them, under one number; a time is one row, and nobody else's; what a person allowed is what an automation says. All of it is rolled back."""

# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

from uuid import UUID, uuid5

from infra.local.instances import base_of
from infra.postgres.settings import SUPERUSER
from infra.prove.check import Book, Check
from infra.prove.target import Attempt, Target
from shared.settings import DATABASES

_MINE, _OTHERS = "prove-mine", "prove-others"
_SPACE = UUID(int=0)
TASK, THEIRS, NEW = (str(uuid5(_SPACE, f"prove task {name}")) for name in ("mine", "theirs", "new"))
DENIED, UNIQUE, CHECKED, MOVED = "42501", "23505", "23514", "55000"
FENCE = "(SELECT fence FROM core.task_lease)"


def _as(owner: str) -> str:
    return f"SELECT set_config('app.owner_kind', 'user', true), set_config('app.owner_id', '{owner}', true)"


def _task(owner: str = _MINE, task: str = NEW, kind: str = "reminder", more: tuple[str, str] = ("", "")) -> str:
    columns = f"owner_kind, owner_id, task_id, kind, title, text, rule, zone, words, state, next_at, notify, misfire, window_s, overlap{more[0]}"
    values = f"'user', '{owner}', '{task}', '{kind}', 'x', 'x', '{{}}', 'UTC', 'x', 'active', now(), true, 'latest', 60, 'skip'{more[1]}"
    return f"INSERT INTO core.tasks ({columns}) VALUES ({values})"


def _run(task: str = TASK, owner: str = _MINE, at: str = "1 hour", fence: str = FENCE, more: tuple[str, str] = ("", "")) -> str:  # fmt: skip
    columns = f"owner_kind, owner_id, task_id, nominal_at, state, fence{more[0]}"
    return f"INSERT INTO core.task_runs ({columns}) VALUES ('user', '{owner}', '{task}', date_trunc('day', now()) - interval '{at}', 'done', {fence}{more[1]})"


def _due(task: str, owner: str) -> str:
    return f"INSERT INTO app.due_tasks VALUES ('{task}', 'user', '{owner}', now() - interval '1 hour', 1)"


def _fire(fence: str) -> str:
    return f"SELECT * FROM core.fire_tasks({fence}, 'prove', '[]')"


BEFORE = (_as(_OTHERS), _task(_OTHERS, THEIRS), _run(THEIRS, _OTHERS), _as(_MINE), _task(_MINE, TASK), _run())
"""Two owners, each with a task that ran once: what the service itself may write."""
_OF_CARD = (", card_id, instruction_hash", f", '{NEW}', encode(sha256('x'), 'hex')")
_OTHER_WORDS = (_OF_CARD[0], f", '{NEW}', encode(sha256('y'), 'hex')")

ATTEMPTS: dict[str, tuple[str, str]] = {
    "a run under an older number": (_run(at="2 hours", fence=f"{FENCE} - 1"), DENIED),
    "a run under a number to come": (_run(at="2 hours", fence=f"{FENCE} + 1"), DENIED),
    "a second run of one time": (_run(), UNIQUE),
    "a run with a time of its own": (_run(at="2 hours", more=(", at", ", now() - interval '1 day'")), DENIED),
    "a run of another owner": (_run(THEIRS, _OTHERS, "2 hours"), DENIED),
    "a run of another owner's task": (_run(THEIRS, at="2 hours"), "23503"),
    "rewrite what became of a time": ("UPDATE core.task_runs SET state = 'failed'", DENIED),
    "move a run to another time": ("UPDATE core.task_runs SET nominal_at = now()", DENIED),
    "give a run another number": (f"UPDATE core.task_runs SET fence = {FENCE} + 1", DENIED),
    "fire under an older number": (_fire(f"{FENCE} - 1"), MOVED),
    "take the lease without a new number": ("UPDATE core.task_lease SET holder = 'prove'", CHECKED),
    "take a number twice": ("UPDATE core.task_lease SET holder = 'prove', fence = fence - 1", CHECKED),
    "pass numbers over": ("UPDATE core.task_lease SET holder = 'prove', fence = fence + 2", CHECKED),
    "let the lease last": ("UPDATE core.task_lease SET expires_at = now() + interval '1 day'", DENIED),
    "let the lease's beat stand for another": ("UPDATE core.task_lease SET beat = beat + 1", DENIED),
    "take the lease away": ("DELETE FROM core.task_lease", DENIED),
    "a second lease": ("INSERT INTO core.task_lease (one, holder, part) VALUES (2, 'prove', 'prove')", CHECKED),
    "a task of another owner": (_task(_OTHERS), DENIED),
    "give a task to another owner": (f"UPDATE core.tasks SET owner_id = '{_OTHERS}'", DENIED),
    "a task that was made another day": (_task(more=(", created_at", ", now() - interval '1 day'")), DENIED),
    "an automation without a card": (_task(kind="automation"), CHECKED),
    "an automation that says other words than were allowed": (_task(kind="automation", more=_OTHER_WORDS), CHECKED),
    "an automation's words after they were allowed": (f"{_task(kind='automation', more=_OF_CARD)}; UPDATE core.tasks SET text = 'y'", CHECKED),
    "an automation's hash after it was allowed": (f"UPDATE core.tasks SET instruction_hash = 'y' WHERE task_id = '{TASK}'", DENIED),
    "an automation's card after it was allowed": (f"UPDATE core.tasks SET card_id = '{NEW}'", DENIED),
}  # fmt: skip
"""What is tried as the owner of one of both, and the code that it must be refused with."""

WITHOUT_EFFECT: dict[str, tuple[str, str]] = {
    "read another owner's task": ("SELECT 1", f"SELECT NOT EXISTS (SELECT FROM core.tasks WHERE task_id = '{THEIRS}')"),
    "read another owner's runs": ("SELECT 1", f"SELECT NOT EXISTS (SELECT FROM core.task_runs WHERE task_id = '{THEIRS}')"),
    "delete another owner's task": (f"DELETE FROM core.tasks WHERE task_id = '{THEIRS}'; {_as(_OTHERS)}", f"SELECT count(*) = 1 FROM core.tasks WHERE task_id = '{THEIRS}'"),
    "make a task due in a stranger's name": (_due(TASK, "prove-stranger"), f"SELECT bool_and(kind IS NULL) FROM core.due_now(1000000) WHERE task_id = '{TASK}'"),
    "make a stranger's task due in one's own": (_due(THEIRS, _MINE), f"SELECT bool_and(kind IS NULL) FROM core.due_now(1000000) WHERE task_id = '{THEIRS}'"),
}  # fmt: skip
STRANGE_DUE = "SELECT d.task_id::text FROM app.due_tasks d JOIN core.tasks t USING (task_id) WHERE (d.owner_kind, d.owner_id) <> (t.owner_kind, t.owner_id)"
FORGOTTEN = """SELECT t.task_id::text FROM core.tasks t LEFT JOIN app.due_tasks d USING (task_id)
  WHERE (t.next_at IS NOT NULL AND d.revision IS DISTINCT FROM t.revision) OR (t.next_at IS NULL AND d.task_id IS NOT NULL)"""
AHEAD = "SELECT r.task_id::text FROM core.task_runs r WHERE r.fence > (SELECT fence FROM core.task_lease) LIMIT 20"
LEASE = "SELECT part, expires_at > clock_timestamp() FROM core.task_lease WHERE holder <> ''"


async def check(target: Target) -> list[Check]:
    book = Book("tasks")
    await check_rows(target, book)
    await check_loop(target, book)
    return book.checks


async def check_rows(target: Target, book: Book) -> None:
    """With the agent's own role, in its own database."""
    tried: dict[str, Attempt] = {
        **{says: _sql(statement, codes=[code]) for says, (statement, code) in ATTEMPTS.items()},
        **{says: _sql(statement, verify=verify) for says, (statement, verify) in WITHOUT_EFFECT.items()},
    }
    for says, outcome in zip(tried, await target.run("agent", list(tried.values())), strict=True):
        book.outcome("agent", says, outcome)


async def check_loop(target: Target, book: Book) -> None:
    """As it stands: who fires, and whether everything that is to come is somebody's own."""
    asked = [_rows(query) for query in (STRANGE_DUE, FORGOTTEN, AHEAD, LEASE)]
    strange, forgotten, ahead, lease = [outcome["value"] for outcome in await target.run("pgadm", asked)]
    book.holds("loop", "what is due is due in its owner's name", _named(strange))
    book.holds("loop", "whatever has a time to come is due then, and nothing else", _named(forgotten))
    book.holds("loop", "no run bears a number that nobody has had", _named(ahead))
    book.same("loop", "one process of the agent fires tasks, and its lease lasts", [["agent", True]], [[base_of(part), good] for part, good in lease])  # fmt: skip


def _named(rows: list[list[str]]) -> str:
    return f"not so of {', '.join(row[0] for row in rows[:5])}" if rows else ""


def _sql(statement: str, **more: object) -> Attempt:
    return {"kind": "sql", "role": "agent", "database": DATABASES["agent"], "before": list(BEFORE), "statement": statement, **more}  # fmt: skip


def _rows(query: str) -> Attempt:
    return {"kind": "rows", "role": SUPERUSER, "database": DATABASES["agent"], "query": query}
