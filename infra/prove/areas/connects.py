"""Every OS user as every role to every database: only the diagonal opens."""

from infra.postgres.settings import SUPERUSER
from infra.prove.check import Book
from infra.prove.target import Attempt, Target
from shared.settings import DATABASES

EVERY_DATABASE = (*DATABASES.values(), "postgres", "template1")
ROLES = (*DATABASES, SUPERUSER)


def attempts() -> list[Attempt]:
    found = [{"kind": "connects", "role": role, "database": name} for role in ROLES for name in EVERY_DATABASE]
    return found + [{"kind": "connects", "role": f"{role}_owner", "database": name} for role, name in DATABASES.items()]


async def check_connects(target: Target, book: Book, user: str) -> None:
    """All attempts of one OS user."""
    made = attempts()
    for attempt, outcome in zip(made, await target.run(user, made), strict=True):
        role, name = attempt["role"], attempt["database"]
        opens = DATABASES.get(role) == name
        says = f"connect as {role}: {name}"
        if target.separated:
            book.outcome(user, says, outcome, _expected(user, role, opens=opens))
        elif role == SUPERUSER:
            book.open(f"OS user {target.who.users[user]}", says)
        else:
            book.outcome(role, says, outcome, "done" if opens else "refused")


def _expected(user: str, role: str, *, opens: bool) -> str:
    """Only its own OS user may be a role at all; the superuser's may go everywhere."""
    if user != role:
        return "refused"
    return "done" if opens or user == SUPERUSER else "refused"
