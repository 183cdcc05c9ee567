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


def submit(stack: Stack, folder: Path, text: str, *, kind: str = "page", lang: str = "en", name: str = "") -> Item:
    """Submit one document by the command and wait until it is queued."""
    name = name or f"t-{uuid4().hex[:10]}"
    path = folder / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    found = stack.cli("publish", str(path), "--kind", kind, "--lang", lang)
    [item] = found["items"]
    return Item(item["item_id"], kind, lang, item["path"])


def decide(stack: Stack, item: Item, verdict: str = "approve", reason: str = "") -> dict[str, Any]:
    more = ("--reason", reason) if reason else ()
    found: dict[str, Any] = stack.cli("items", "decide", item.item_id, "--verdict", verdict, *more)
    return found


def listed(stack: Stack, item: Item) -> dict[str, Any]:
    """The item's row as `items list` shows it."""
    rows = {row["item_id"]: row for row in stack.cli("items", "list")["items"]}
    assert item.item_id in rows, f"{item.path} is not listed"
    found: dict[str, Any] = rows[item.item_id]
    return found
