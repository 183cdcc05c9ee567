"""How a hole is planted, found, healed, and seen no more."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from infra.prove.check import Book, Check
from infra.prove.target import Target
from tests.factories.stack import Stack

Examine = Callable[[Target, Book], Awaitable[object]]


@dataclass(frozen=True)
class Hole:
    """`found_by` are words of the attempt, or of what was got, in a row that must come out wrong while the hole is there."""

    name: str
    examine: Examine
    found_by: str
    plant: Callable[[Stack], None]
    heal: Callable[[Stack], None]


def see(hole: Hole, stack: Stack) -> None:
    """Found while it is there, gone afterwards; nothing else is wrong before or after."""
    target = Target.load(stack.state)
    try:
        hole.plant(stack)
        found = failures(rows(hole.examine, target))
    finally:
        hole.heal(stack)
    assert any(hole.found_by in f"{check.attempt} {check.got}" for check in found), [str(check) for check in found][:10]
    left = failures(rows(hole.examine, Target.load(stack.state)))
    assert not left, [str(check) for check in left][:10]


def rows(examine: Examine, target: Target) -> list[Check]:
    async def run_it(book: Book) -> list[Check]:
        try:
            await examine(target, book)
        finally:
            await target.close()
        return book.checks

    found = asyncio.run(run_it(Book("test")))
    assert found
    return found


def failures(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.failed]


def by_sql(name: str, examine: Examine, found_by: str, database: str, plant: str, heal: str) -> Hole:
    """A hole that the superuser could open by mistake."""
    return Hole(
        name, examine, found_by, lambda stack: run(stack, database, plant), lambda stack: run(stack, database, heal)
    )


def run(stack: Stack, database: str, text: str) -> None:
    """Statements, one a line, each committed."""
    for statement in filter(None, (line.strip() for line in text.splitlines())):
        answer = stack.ask_database("pgadm", database, statement)
        assert isinstance(answer, list), (statement, answer)


def named(holes: list[Hole]) -> list[object]:
    return [pytest.param(hole, id=hole.name.replace(" ", "-")) for hole in holes]
