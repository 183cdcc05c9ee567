"""Holes in what keeps all parts but connectors from leaving the machine.

Installations on one machine share the OS users: while another one runs, its rules hold, too, and an attempt to leave proves nothing about
ours. That an attempt is seen to get out is tested in a network of its own (tests/parts/test_firewall.py).
"""

from collections.abc import Callable

import pytest

from infra.local import control
from infra.local.firewall.choice import backend
from infra.local.firewall.rules import MAY_LEAVE, Backend, Rules, rules_of
from infra.local.layout import ALL_USERS
from infra.observe.grants.leaving import read_leaving
from infra.prove.areas import egress
from infra.prove.check import Book
from infra.prove.target import Target
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, failures, rows, see

pytestmark = pytest.mark.stack


def firewall(stack: Stack) -> tuple[Backend, Rules]:
    """What this installation uses; skipped where the machine has nothing."""
    told = control.ask(stack.layout, "status")["egress"]
    if not told["on"]:
        pytest.skip(f"any part may leave this machine: {told['why']}")
    found = backend(told["tool"])
    assert found is not None
    return found, rules_of(Target.load(stack.state).config)


def hole(name: str, found_by: str, plant: Callable[[Stack], None]) -> Hole:
    """The supervisor puts rules back within seconds: the hole is made anew right before it is looked for, with every attacker ready."""
    open_now: list[Stack] = []

    async def examine(target: Target, book: Book) -> None:
        for user in ALL_USERS:
            await target.run(user, [{"kind": "leaving", "host": "127.0.0.1", "port": 9, "by": "udp"}])
        for stack in open_now:
            plant(stack)
        book.checks += await egress.check(target)
        for line in await read_leaving(target):
            book.holds(line.surface, f"grants: {line.what}", "" if line.is_right else line.got)

    def heal(stack: Stack) -> None:
        open_now.clear()
        used, rules = firewall(stack)
        used.put(rules)

    return Hole(name, examine, found_by, open_now.append, heal)


def without(user: str) -> Callable[[Stack], None]:
    def plant(stack: Stack) -> None:
        used, rules = firewall(stack)
        used.put(Rules(rules.name, {name: uid for name, uid in rules.users.items() if name != user}))

    return plant


def for_another(user: str) -> Callable[[Stack], None]:
    """The rules are there, for a user id that nobody has."""

    def plant(stack: Stack) -> None:
        used, rules = firewall(stack)
        used.put(Rules(rules.name, rules.users | {user: 61_917}))

    return plant


HOLES = [
    hole("the site's rules are gone", "rules of site are as declared", without("site")),
    hole("the rules hit another user", "rules of agent are as declared", for_another("agent")),
    hole("grants see it, too", "grants: leaving this machine over IPv6", for_another("nats")),
]


@pytest.mark.parametrize("hole", [pytest.param(each, id=each.name.replace(" ", "-")) for each in HOLES])
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    firewall(proving.stack)
    see(hole, proving.stack)


def test_rules_that_shut_connectors_in_are_found(proving: Proving) -> None:
    """Not a hole, and as wrong: the only part that may leave cannot."""
    used, rules = firewall(proving.stack)

    async def examine(target: Target, book: Book) -> None:
        uids = {name: uid for name, uid in target.config.uids.items() if name in MAY_LEAVE}
        used.put(Rules(rules.name, rules.users | uids))
        try:
            book.checks += await egress.check(target)
        finally:
            used.put(rules)

    found = failures(rows(examine, Target.load(proving.stack.state)))
    assert any(check.actor == "firewall" for check in found)


def test_status_says_that_only_connectors_may_leave(proving: Proving) -> None:
    firewall(proving.stack)
    found = proving.stack.cli("status")
    assert (found["egress_separation"], found["egress"]["why"]) == (True, "")
    assert "egress separated: yes" in proving.stack.run("status").stdout
