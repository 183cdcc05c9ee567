"""Area habits: what an owner learnt and taught the agent is nobody else's, says where it came from, and is not rewritten. All of it is rolled back."""

# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608
from infra.prove.check import Book, Check
from infra.prove.target import Attempt, Target
from shared.settings import DATABASES

_MINE, _OTHERS = "prove-mine", "prove-others"
REFUSED, UNIQUE, CHECKED = "42501", "23505", "23514"


def _as(owner: str) -> str:
    return f"SELECT set_config('app.owner_kind', 'user', true), set_config('app.owner_id', '{owner}', true)"


def _lesson(owner: str = _MINE, number: int = 1, more: tuple[str, str] = ("", "")) -> str:
    columns = f"owner_kind, owner_id, lesson_id, observation, conclusion, next_action, tags, words, splitting, sources{more[0]}"
    return f"INSERT INTO core.lessons ({columns}) VALUES ('user', '{owner}', {number}, 'x', '', '', '[]', 'd:x', 1, '[\"a mail\"]'{more[1]})"


def _behavior(owner: str = _MINE, version: int = 1, before: int = 0, more: tuple[str, str] = ("", "")) -> str:
    columns = f"owner_kind, owner_id, version, before, text, sources{more[0]}"
    return f"INSERT INTO core.behavior_versions ({columns}) VALUES ('user', '{owner}', {version}, {before}, 'x', '[\"a mail\"]'{more[1]})"


def _in_force(owner: str = _MINE) -> str:
    return f"INSERT INTO core.behaviors (owner_kind, owner_id, version) VALUES ('user', '{owner}', 1)"


def _tool(owner: str = _MINE, name: str = "weekly") -> str:
    columns = "owner_kind, owner_id, name, description, prompt, sources"
    return f"INSERT INTO core.virtual_tools ({columns}) VALUES ('user', '{owner}', '{name}', 'x', 'x', '[\"a mail\"]')"


BEFORE = (
    *(_as(_OTHERS), _lesson(_OTHERS), _behavior(_OTHERS), _in_force(_OTHERS), _tool(_OTHERS, "theirs")),
    *(_as(_MINE), _lesson(), _behavior(), _in_force(), _tool()),
)
"""Two owners, each with a lesson, a behavior and a tool: what the service itself may write."""

ATTEMPTS: dict[str, tuple[str, str]] = {
    "rewrite a lesson": ("UPDATE core.lessons SET conclusion = 'y'", REFUSED),
    "wash a lesson of where it came from": ("UPDATE core.lessons SET sources = '[]'", REFUSED),
    "a lesson with a time of its own": (_lesson(number=2, more=(", at", ", now() - interval '1 day'")), REFUSED),
    "a second lesson of one number": (_lesson(), UNIQUE),
    "a lesson of another owner": (_lesson(_OTHERS, 2), REFUSED),
    "give a lesson to another owner": (f"UPDATE core.lessons SET owner_id = '{_OTHERS}'", REFUSED),
    "rewrite a behavior that was": ("UPDATE core.behavior_versions SET text = 'y'", REFUSED),
    "wash a behavior of where it came from": ("UPDATE core.behavior_versions SET sources = '[]'", REFUSED),
    "a behavior with a time of its own": (_behavior(version=2, more=(", at", ", now() - interval '1 day'")), REFUSED),
    "a behavior that goes back to itself": (_behavior(version=2, before=2), CHECKED),
    "a behavior of another owner": (_behavior(_OTHERS, 2), REFUSED),
    "put another owner's behavior in force": (_in_force(_OTHERS), REFUSED),
    "rewrite what a tool does": ("UPDATE core.virtual_tools SET prompt = 'y'", REFUSED),
    "wash a tool of where it came from": ("UPDATE core.virtual_tools SET sources = '[]'", REFUSED),
    "a tool of another owner": (_tool(_OTHERS), REFUSED),
    "a tool with a name that is none": (_tool(name="Run Tool"), CHECKED),
}
"""What is tried as the owner of one of both, and the code that it must be refused with."""

WITHOUT_EFFECT: dict[str, tuple[str, str]] = {
    "read another owner's lessons": ("SELECT 1", f"SELECT NOT EXISTS (SELECT FROM core.lessons WHERE owner_id = '{_OTHERS}')"),
    "read another owner's behavior": ("SELECT 1", f"SELECT NOT EXISTS (SELECT FROM core.behavior_versions WHERE owner_id = '{_OTHERS}')"),
    "read lessons, behavior and tools as nobody": (_as(""), "SELECT NOT EXISTS (SELECT FROM core.lessons) AND NOT EXISTS (SELECT FROM core.behavior_versions) AND NOT EXISTS (SELECT FROM core.virtual_tools)"),
    "delete another owner's lesson": (f"DELETE FROM core.lessons WHERE owner_id = '{_OTHERS}'; {_as(_OTHERS)}", f"SELECT count(*) = 1 FROM core.lessons WHERE owner_id = '{_OTHERS}'"),
    "delete what another owner's behavior was": (f"DELETE FROM core.behavior_versions WHERE owner_id = '{_OTHERS}'; {_as(_OTHERS)}", f"SELECT count(*) = 1 FROM core.behavior_versions WHERE owner_id = '{_OTHERS}'"),
    "switch another owner's tool off": (f"UPDATE core.virtual_tools SET enabled = false WHERE name = 'theirs'; {_as(_OTHERS)}", "SELECT enabled FROM core.virtual_tools WHERE name = 'theirs'"),
    "set another owner's behavior back": (f"UPDATE core.behaviors SET version = 7 WHERE owner_id = '{_OTHERS}'; {_as(_OTHERS)}", f"SELECT version = 1 FROM core.behaviors WHERE owner_id = '{_OTHERS}'"),
}  # fmt: skip


async def check(target: Target) -> list[Check]:
    book = Book("habits")
    await check_rows(target, book)
    return book.checks


async def check_rows(target: Target, book: Book) -> None:
    """With the agent's own role, in its own database."""
    tried: dict[str, Attempt] = {
        **{says: _sql(statement, codes=[code]) for says, (statement, code) in ATTEMPTS.items()},
        **{says: _sql(statement, verify=verify) for says, (statement, verify) in WITHOUT_EFFECT.items()},
    }
    for says, outcome in zip(tried, await target.run("agent", list(tried.values())), strict=True):
        book.outcome("agent", says, outcome)


def _sql(statement: str, **more: object) -> Attempt:
    return {"kind": "sql", "role": "agent", "database": DATABASES["agent"], "before": list(BEFORE), "statement": statement, **more}  # fmt: skip
