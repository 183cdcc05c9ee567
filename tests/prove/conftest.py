"""An installation of its own for holes: a planted one must not meet another test."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.factories.documents import Item, decide, submit, withdraw
from tests.factories.stack import Stack, running_stack
from tests.factories.waiting import until


@dataclass(frozen=True)
class Proving:
    """A running system with one public item and one that was withdrawn."""

    stack: Stack
    public: Item
    withdrawn: Item


@pytest.fixture(scope="session")
def proving() -> Iterator[Proving]:
    with running_stack() as stack:
        items = [submit(stack, f"# {name}\n\nA page for prove.\n", kind="doc", name=name) for name in ("stays", "goes")]
        for item in items:
            decide(stack, item)
        withdraw(stack, items[1])
        until(
            lambda: stack.value("site", "SELECT count(*) FROM app.tombstones") == 1,
            20,
            "the withdrawal reached the site",
        )
        yield Proving(stack, *items)
