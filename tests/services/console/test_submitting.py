"""What may be handed to the lock."""

import pytest

from schemas.content import ItemContent
from schemas.model import MAX_CONTENT
from services.console.people.domain import Caller
from services.console.queue.submit_pages import as_source
from services.console.queue.usecases.submit_item import read_draft, submit_item
from shared.errors import Forbidden, Refused, TooLarge
from tests.services.console.conftest import MARA, Desk, Made

TEXT = "# Title\n\nWords.\n"


def test_a_path_is_one_whatever_system_typed_it() -> None:
    composed, decomposed = "\u00dcbersicht/erste", "U\u0308bersicht/erste"
    assert read_draft("doc", "de", composed, TEXT).item_id == read_draft("doc", "de", decomposed, TEXT).item_id


@pytest.mark.parametrize(
    "path", ["", "/", "a b", "a//b", "../a", "a/./b", "a?b", "a#b", "a%2fb", "a\\b", "a\u202eb", "a\nb", "x" * 301]
)
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(Refused, match="is no path"):
        read_draft("doc", "de", path, TEXT)


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        ("DE", "de"),
        ("pt-br", "pt-BR"),
        ("zh-hant-tw", "zh-Hant-TW"),
        ("de-CH-1996", "de-CH-1996"),
        ("sl-rozaj-biske", "sl-rozaj-biske"),
        ("x-Klingon", "x-klingon"),
        ("i-klingon", "i-klingon"),
        ("en-a-BBB-X-AB", "en-a-bbb-x-ab"),
        ("es-419", "es-419"),
    ],
)
def test_a_language_is_one_however_its_tag_is_typed(typed: str, spelled: str) -> None:
    assert read_draft("doc", typed, "a", TEXT).lang == spelled


@pytest.mark.parametrize("lang", ["", "a", "x", "x-", "de_DE", "de-", "-de", "../x", "de/x", "ü", "d e", "x" * 36])
def test_what_is_no_language_tag_is_refused(lang: str) -> None:
    with pytest.raises(Refused, match="is not a language tag"):
        read_draft("doc", lang, "a", TEXT)


def test_kind_and_language_are_checked_by_name() -> None:
    with pytest.raises(Refused, match="the kinds are page, doc, report, announcement"):
        read_draft("memo", "de", "a", TEXT)
    with pytest.raises(Refused, match="is not a language tag"):
        read_draft("doc", "d_e", "a", TEXT)


def test_a_document_of_600_kib_is_refused_with_the_limit() -> None:
    with pytest.raises(TooLarge, match="has 600 KiB; an item has at most 512 KiB"):
        read_draft("doc", "de", "a", "# T\n" + "x" * (600 * 1024 - 4))


def test_the_limit_is_of_the_canonical_content() -> None:
    with pytest.raises(TooLarge, match="at most 512 KiB"):
        read_draft("doc", "de", "a", "# T\n" + '"' * (MAX_CONTENT - 100))


@pytest.mark.parametrize("text", ["# T\n\na\x00b", "# T\n\n\ud800"])
def test_characters_that_cannot_be_kept_are_refused(text: str) -> None:
    with pytest.raises(Refused, match="was not taken"):
        read_draft("doc", "de", "a", text)


async def test_a_submission_is_staged_with_the_exact_content(desk: Desk) -> None:
    draft = read_draft("doc", "en", f"s-{MARA.id[:8]}", "---\ntitle: Front\nsummary: Short\n---\n\nBody.\n")
    async with desk.db.transaction() as tx:
        sent = await submit_item(tx, MARA, draft)
    [event] = await desk.staged(Made(sent.item_id, "", 1, "", 1))
    assert event["data"]["content_hash"] == draft.content_hash
    assert ItemContent.from_bytes(draft.content).title == "Front"
    assert event["data"]["submitted_by"] == {"id": MARA.id, "name": MARA.name, "via": "console"}


async def test_a_viewer_cannot_submit(desk: Desk) -> None:
    async with desk.db.transaction() as tx:
        with pytest.raises(Forbidden):
            await submit_item(tx, Caller("v", "V", "viewer"), read_draft("doc", "en", "v", TEXT))


@pytest.mark.parametrize("title", ["Title", 'Quoted "title" \\ with: colon'])
@pytest.mark.parametrize("body", ["# Title\n\nWords.\n", "Words only.\n"])
def test_the_source_that_is_offered_for_editing_gives_the_same_content(title: str, body: str) -> None:
    content = ItemContent(title=title, summary="Short: one", body=body)
    draft = read_draft("doc", "en", "same", as_source(content))
    assert ItemContent.from_bytes(draft.content) == content
