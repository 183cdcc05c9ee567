"""Documents to publish: small ones made up, and the real ones beside the repository when they are there."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.factories.stack import ROOT, Stack

SAMPLES = ROOT / "tests" / "samples"


def real_input() -> Path:
    """The folder with the real input, or a skipped test that says what is missing."""
    folder = Path(os.environ.get("SCHLEUSE_SHARED", ROOT.parent / "shared")) / "data"
    if not folder.is_dir():
        pytest.skip("the real input (../shared/data) is not beside this checkout")
    return folder


@dataclass(frozen=True)
class Item:
    """What a test needs to know about an item that it made."""

    item_id: str
    kind: str
    lang: str
    path: str

    @property
    def url(self) -> str:
        return f"/{self.kind}/{self.lang}/{self.path}"


def submit(stack: Stack, text: str, *, kind: str = "page", lang: str = "en", name: str = "") -> Item:
    """Hand in one document as the operator and wait until it is queued."""
    one = {"kind": kind, "lang": lang, "path": name or f"t-{uuid4().hex[:10]}", "text": text}
    found = stack.ask("console", "items.submit", items=[one])
    assert not found["refused"], found
    [item] = found["items"]
    return Item(item["item_id"], kind, lang, item["path"])


def decide(stack: Stack, item: Item, verdict: str = "approve", reason: str = "") -> dict[str, Any]:
    """The operator decides; returns when the lock has answered."""
    return stack.ask("console", "items.decide", items=[item.item_id], verdict=verdict, reason=reason)


def withdraw(stack: Stack, item: Item) -> dict[str, Any]:
    return stack.ask("console", "items.withdraw", item=item.item_id, reason="no longer true")


def listed(stack: Stack, item: Item) -> dict[str, Any]:
    """The item's row as `items list` shows it."""
    rows = {row["item_id"]: row for row in stack.items()}
    assert item.item_id in rows, f"{item.path} is not listed"
    return rows[item.item_id]
