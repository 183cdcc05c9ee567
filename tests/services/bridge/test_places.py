"""Where an item may lie: the lock does not rely on what the console checked."""

import pytest

from schemas.console.v1 import ItemSubmitted
from schemas.content import ItemContent
from schemas.model import Actor
from schemas.text import sha256
from services.bridge.usecases.inspect_item import read_content
from shared.ids import item_id, new_id
from tests.services.bridge.makes import content


def submitted(path: str, of: str = "", lang: str = "en") -> ItemSubmitted:
    raw = content().to_bytes()
    return ItemSubmitted(
        submission_id=new_id(),
        item_id=item_id("doc", lang, of or path),
        kind="doc",
        lang=lang,
        path=path,
        content=raw,
        content_hash=sha256(raw),
        submitted_by=Actor(id="mara", name="Mara"),
    )


@pytest.mark.parametrize("path", [".", "..", "../etc/passwd", "guide/../start", "guide/./start", "guide/..", "./guide"])
def test_a_segment_that_means_another_folder_is_refused(path: str) -> None:
    assert "another folder" in str(read_content(submitted(path)))


@pytest.mark.parametrize("path", ["a\u202eb", "a\u200bb", "u\u0308ber"])
def test_a_path_that_looks_like_another_is_refused(path: str) -> None:
    assert "the path has" in str(read_content(submitted(path)))


@pytest.mark.parametrize("path", ["...", "v1.2/notes", ".well-known/x", "guide/first.steps", "\u00fcber/uns"])
def test_dots_within_a_name_are_fine(path: str) -> None:
    assert isinstance(read_content(submitted(path)), ItemContent)


def test_an_id_that_belongs_to_another_path_is_refused() -> None:
    assert "id does not belong" in str(read_content(submitted("guide", of="guide/..")))


def test_another_spelling_of_a_language_is_refused() -> None:
    """An agent could otherwise put doc/EN/start beside doc/en/start."""
    assert "written en" in str(read_content(submitted("start", lang="EN")))
    assert isinstance(read_content(submitted("start", lang="pt-BR")), ItemContent)
