"""The leak guard from a record to the queue: what is internal is marked wherever it is handed in, from two seconds after it was written (S14)."""

import base64
from uuid import uuid4

import pytest

from tests.factories.documents import Item, decide, submit
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
MANIFEST = """slug = "{slug}"
title = "Leaks"
kind = "application"
[[tables]]
name = "people"
[[tables.columns]]
name = "name"
[[tables.columns]]
name = "city"
visibility = "shareable"
"""


def install(stack: Stack) -> str:
    slug = f"leaks-{uuid4().hex[:10]}"
    files = {"app.toml": base64.b64encode(MANIFEST.format(slug=slug).encode()).decode()}
    stack.ask("console", "apps.install", files=files)
    stack.ask("console", "apps.decide", app=slug, verdict="install")
    return slug


def write(stack: Stack, slug: str, *names: str) -> None:
    begun = stack.ask("console", "records.begin", app=slug, table="people", file="people.csv", options={})
    lines = "\n".join(["name,city", *(f"{name},Bremerhaven Mitte" for name in names)])
    stack.ask(
        "console",
        "records.piece",
        import_id=begun["import_id"],
        number=0,
        piece=base64.b64encode(lines.encode()).decode(),
    )
    assert stack.ask("console", "records.run", import_id=begun["import_id"], dry_run=False)["added"] == len(names)


def places(stack: Stack, item: Item) -> list[tuple[str, int | None]]:
    """Where the lock found internal values in the item's newest revision."""
    found = stack.ask("console", "leaks.found", item_ids=[item.item_id])["found"]
    return [(each["message"], each["line"]) for each in found]


def test_an_internal_value_is_marked_before_anybody_sees_it(stack: Stack) -> None:
    slug, tag = install(stack), uuid4().hex[:10]
    waits = submit(stack, f"# Before {tag}\n\nWords on Quixotic {tag} Holdings.\n")
    write(stack, slug, f"Quixotic {tag} Holdings")

    def marked() -> list[tuple[str, int | None]]:
        spelled = f"QUIXOTIC&nbsp;{tag}-h<b>old</b>ings"
        return places(stack, submit(stack, f"# After {tag}\n\nwords\n\nand {spelled} too.\n"))

    found = until(marked, 60, "the lock knows the new value")
    assert found == [(f"This is a value of the internal column {slug}: people.name", 5)]
    late = decide(stack, waits)
    assert not late["decided"] and "has become internal" in str(late["refused"])
    again = submit(stack, f"# Before {tag}\n\nWords on Quixotic {tag} Holdings.\n\nNow looked at.\n")
    assert places(stack, again)
    assert decide(stack, again)["decided"], "whoever was shown it may decide"
    assert not places(stack, submit(stack, f"# City {tag}\n\nIn Bremerhaven Mitte, of the city of {tag}.\n"))
