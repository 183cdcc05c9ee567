"""Area conversations: what was said is not rewritten, goes only as a whole, and is nobody else's; a turn's figures stay for good. All of it is rolled back."""
# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

from uuid import UUID, uuid5

from infra.prove.check import Book, Check
from infra.prove.fetch import get, send
from infra.prove.target import Attempt, Target
from shared.settings import DATABASES

_MINE, _OTHERS = "prove-mine", "prove-others"
_SPACE = UUID(int=0)
CHAT, THEIRS, TURN = (str(uuid5(_SPACE, f"prove {name}")) for name in ("chat", "theirs", "turn"))
EXPORT, FORGET = "/api/v1/export", "/api/v1/forget"
ROW_SECURITY, REFERENCE, UNIQUE, CHECKED = "42501", "23503", "23505", "23514"


def _as(owner: str) -> str:
    return f"SELECT set_config('app.owner_kind', 'user', true), set_config('app.owner_id', '{owner}', true)"


def _conversation(owner: str, chat: str) -> str:
    return (
        f"INSERT INTO core.conversations (owner_kind, owner_id, conversation_id) VALUES ('user', '{owner}', '{chat}')"
    )


def _message(number: int, chat: str = CHAT, owner: str = _MINE, more: tuple[str, str] = ("", "")) -> str:
    columns = f"owner_kind, owner_id, conversation_id, number, part, text, folded{more[0]}"
    return f"INSERT INTO core.messages ({columns}) VALUES ('user', '{owner}', '{chat}', {number}, 'user', 'x', 'x'{more[1]})"


def _turn(owner: str = _MINE, cost: str = "1", more: tuple[str, str] = ("", "")) -> str:
    columns = f"owner_kind, owner_id, turn_id, conversation_id, app, model, started_at, iterations, calls, cost, outcome, trace_id{more[0]}"
    return f"INSERT INTO core.turns ({columns}) VALUES ('user', '{owner}', '{TURN}', '{CHAT}', 'chat', 'm', now(), 1, 0, {cost}, 'ok', ''{more[1]})"


_TEXTS = f"INSERT INTO core.turn_texts (owner_kind, owner_id, turn_id, conversation_id, prompt, reply, error, calls) VALUES ('user', '{_MINE}', '{TURN}', '{CHAT}', 'x', 'x', '', '[]')"
BEFORE = (
    _as(_OTHERS), _conversation(_OTHERS, THEIRS), _message(1, THEIRS, _OTHERS),
    _as(_MINE), _conversation(_MINE, CHAT), _message(1), _turn(), _TEXTS,
)  # fmt: skip
"""Two owners with a conversation each, one with a turn: what the service itself may write."""

ATTEMPTS: dict[str, tuple[str, str]] = {
    "rewrite a message": ("UPDATE core.messages SET text = 'y'", ROW_SECURITY),
    "move a message to another number": ("UPDATE core.messages SET number = 7", ROW_SECURITY),
    "delete a message and keep its conversation": ("DELETE FROM core.messages", ROW_SECURITY),
    "a message under a number that was used": (_message(1), CHECKED),
    "a message behind a gap": (_message(3), CHECKED),
    "a message with a time of its own": (_message(2, more=(", at", ", now() - interval '1 day'")), ROW_SECURITY),
    "a message of another owner": (_message(1, THEIRS, _OTHERS), ROW_SECURITY),
    "a message in another owner's conversation": (_message(1, THEIRS), REFERENCE),
    "a conversation of another owner": (_conversation(_OTHERS, CHAT), ROW_SECURITY),
    "rewrite what a turn cost": ("UPDATE core.turns SET cost = 0", ROW_SECURITY),
    "delete a turn": ("DELETE FROM core.turns", ROW_SECURITY),
    "a second row of a turn": (_turn(), UNIQUE),
    "a turn with a time of its own": (_turn(more=(", ended_at", ", now() - interval '1 day'")), ROW_SECURITY),
    "a turn of another owner": (_turn(_OTHERS), ROW_SECURITY),
    "a turn that cost less than nothing": (_turn(cost="-1").replace(TURN, CHAT), CHECKED),
    "rewrite what a turn's record says": ("UPDATE core.turn_texts SET reply = 'y'", ROW_SECURITY),
}
"""What is tried as the owner of both rows, and the code that it must be refused with."""

WITHOUT_EFFECT: dict[str, tuple[str, str]] = {
    "read another owner's conversation": ("SELECT 1", f"SELECT NOT EXISTS (SELECT FROM core.conversations WHERE conversation_id = '{THEIRS}')"),
    "read another owner's messages": ("SELECT 1", f"SELECT NOT EXISTS (SELECT FROM core.messages WHERE conversation_id = '{THEIRS}')"),
    "read messages as nobody": (_as(""), "SELECT NOT EXISTS (SELECT FROM core.messages) AND NOT EXISTS (SELECT FROM core.turn_texts)"),
    "delete another owner's conversation": (f"DELETE FROM core.conversations WHERE conversation_id = '{THEIRS}'; {_as(_OTHERS)}", f"SELECT count(*) = 1 FROM core.conversations WHERE conversation_id = '{THEIRS}'"),
    "take figures away with a conversation": (f"DELETE FROM core.conversations WHERE conversation_id = '{CHAT}'", f"SELECT count(*) = 1 FROM core.turns WHERE turn_id = '{TURN}'"),
}  # fmt: skip


async def check(target: Target) -> list[Check]:
    book = Book("conversations")
    await check_rows(target, book)
    await check_belongings(book, target.config.urls["workspace"])
    return book.checks


async def check_rows(target: Target, book: Book) -> None:
    """With the agent's own role, in its own database."""
    tried: dict[str, Attempt] = {
        **{says: _sql(statement, codes=[code]) for says, (statement, code) in ATTEMPTS.items()},
        **{says: _sql(statement, verify=verify) for says, (statement, verify) in WITHOUT_EFFECT.items()},
    }
    for says, outcome in zip(tried, await target.run("agent", list(tried.values())), strict=True):
        book.outcome("agent", says, outcome)


async def check_belongings(book: Book, base: str) -> None:
    """What is kept of a person is fetched and deleted by themselves alone, and from no other site."""
    as_json = {"content-type": "application/json"}
    said = '{"confirm": "delete everything"}'
    strange = {"authorization": "Bearer schleuse_ak_prove"}
    tried = {
        "fetch everything, as nobody": (await get(base, EXPORT), 401),
        "fetch everything, with a key that nobody made": (await get(base, EXPORT, strange), 401),
        "delete everything, as nobody": (await send(base, "POST", FORGET, as_json, said), 401),
        "delete everything, from another site": (
            await send(base, "POST", FORGET, as_json | {"Origin": "https://evil.example"}, said),
            403,
        ),
        "delete everything, by a form of another site": (
            await send(base, "POST", "/data/forget", {"Origin": "https://evil.example"}, "confirm=delete+everything"),
            403,
        ),
    }
    for says, (answer, expected) in tried.items():
        book.same("visitor", says, expected, answer.status)


def _sql(statement: str, **more: object) -> Attempt:
    return {"kind": "sql", "role": "agent", "database": DATABASES["agent"], "before": list(BEFORE), "statement": statement, **more}  # fmt: skip
