"""Attachments at the site: shown when all have come, served while a published item names them, gone with it (rules 5, 10, 11)."""

from typing import Any

import pytest

from schemas.bridge.v1 import AttachmentPublished, ItemPublished
from schemas.content import Attachment, ItemContent
from schemas.statements import Decision
from schemas.text import sha256
from services.site.publication.chain import BadReceipt
from shared.ids import item_id
from tests.services.site.conftest import Living, Sites
from tests.services.site.gatework import Gatework

PNG, CSV = b"\x89PNG pretended", b"a,b\n1,2\n"
PICTURE = Attachment(
    name="gate.png", media_type="image/png", size=len(PNG), hash=sha256(PNG), alt="A gate", width=640, height=400
)
TABLE = Attachment(name="Übersicht.csv", media_type="text/csv", size=len(CSV), hash=sha256(CSV))
AT_PNG, AT_CSV = f"/a/{PICTURE.hash}/gate.png", f"/a/{TABLE.hash}/%C3%9Cbersicht.csv"
BODY = "![](gate.png)\n\n[table](%C3%9Cbersicht.csv)\n"


def entry(
    gate: Gatework, path: str = "guide/gate", files: tuple[Attachment, ...] = (PICTURE, TABLE), **changed: Any
) -> Any:
    raw = ItemContent(title="The gate", body=BODY, attachments=files).to_bytes()
    named = changed.pop("attachments", tuple(each.hash for each in files))
    statement, _ = gate.decision(path, content_hash=sha256(raw), attachments=named, **changed)
    decision = Decision.from_bytes(statement.payload)
    sealed = gate.enter("publication", statement, decision.item_id, decision.content_hash)
    return gate._log(
        "item.published", ItemPublished(item_id=decision.item_id, decision=statement, gate=sealed, content=raw)
    )


def bytes_of(path: str = "guide/gate", *, of: bytes = PNG, hash_: str = "") -> AttachmentPublished:
    return AttachmentPublished(item_id=item_id("doc", "en", path), hash=hash_ or sha256(of), data=of)


async def publish(site: Living, path: str = "guide/gate", **changed: Any) -> str:
    await site.hear("item.published", entry(site.gate, path, **changed))
    await site.hear("attachment.published", bytes_of(path, of=PNG), bytes_of(path, of=CSV))
    return f"/doc/en/{path}"


async def status(site: Living, url: str, **headers: str) -> int:
    return (
        await site.http.get(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    ).status_code


async def test_an_item_is_shown_and_reported_when_all_its_attachments_have_come(site: Living) -> None:
    await site.hear("item.published", entry(site.gate))
    await site.hear("attachment.published", bytes_of(of=PNG))
    assert await status(site, "/doc/en/guide/gate") == 404
    assert await status(site, AT_PNG) == 404
    assert await site.told("item.applied") == []
    await site.hear("attachment.published", bytes_of(of=CSV))
    page = await site.http.get("/doc/en/guide/gate")
    assert page.status_code == 200
    assert f'src="{AT_PNG}"' in page.text
    assert f'href="{AT_CSV}"' in page.text
    assert [each["effect"] for each in await site.told("item.applied")] == ["live"]


async def test_bytes_that_come_first_and_twice_are_shown_once(site: Living) -> None:
    both = (bytes_of(of=CSV), bytes_of(of=PNG))
    await site.hear("attachment.published", *both)
    assert await status(site, AT_PNG) == 404
    await site.hear("item.published", entry(site.gate))
    assert await status(site, "/doc/en/guide/gate") == 200
    await site.hear("attachment.published", *both)
    assert len(await site.told("item.applied")) == 1


async def test_files_have_their_type_and_nothing_of_them_runs(site: Living) -> None:
    await publish(site)
    shown, table = await site.http.get(AT_PNG), await site.http.get(AT_CSV)
    assert (shown.content, table.content) == (PNG, CSV)
    assert shown.headers["content-type"] == "image/png"
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert shown.headers["content-disposition"].startswith("inline")
    assert table.headers["content-disposition"].startswith("attachment")
    assert "filename*=UTF-8''%C3%9Cbersicht.csv" in table.headers["content-disposition"]
    for each in (shown, table):
        assert "sandbox" in each.headers["content-security-policy"]
        assert each.headers["x-content-type-options"] == "nosniff"
        assert each.headers["cache-control"] == "public, max-age=0, s-maxage=1, must-revalidate"
    assert await status(site, AT_PNG, If_None_Match=shown.headers["etag"]) == 304
    for wrong in (
        f"/a/{PICTURE.hash}/other.png",
        f"/a/{'0' * 64}/gate.png",
        f"/a/{PICTURE.hash}/",
        f"/a/{PICTURE.hash}/../gate.png",
    ):
        assert await status(site, wrong) == 404


async def test_pb_04_attachments_go_with_their_item_and_no_tag_brings_them_back(site: Living) -> None:
    await publish(site)
    tag = (await site.http.get(AT_PNG)).headers["etag"]
    await site.hear("item.retracted", site.gate.retract(item_id("doc", "en", "guide/gate")))
    for url in (AT_PNG, AT_CSV):
        assert await status(site, url) == 410
        assert await status(site, url, If_None_Match=tag) == 410
        assert await status(site, url, If_None_Match="*") == 410
    assert await site.value("SELECT count(*) FROM app.attachments") == 0


async def test_an_attachment_stays_while_another_item_names_it(site: Living) -> None:
    await publish(site)
    await publish(site, "guide/other", files=(PICTURE,))
    await site.hear("item.retracted", site.gate.retract(item_id("doc", "en", "guide/gate")))
    assert (await status(site, AT_PNG), await status(site, AT_CSV)) == (200, 410)
    await site.hear("item.published", entry(site.gate, "guide/other", (), revision=2, prior_version=2))
    assert await status(site, AT_PNG) == 410


async def test_members_attachments_are_theirs_alone(site: Living) -> None:
    await publish(site, audience="members")
    assert await status(site, AT_PNG) == 404
    assert await status(site, "/doc/en/guide/gate") == 404


async def test_other_bytes_and_other_names_are_forged(site: Living) -> None:
    with pytest.raises(BadReceipt):
        await site.hear("attachment.published", bytes_of(of=CSV, hash_=PICTURE.hash))
    with pytest.raises(BadReceipt, match="other attachments"):
        await site.hear("item.published", entry(site.gate, attachments=(PICTURE.hash,)))


async def test_a_row_put_in_by_hand_is_served_to_nobody(site: Living) -> None:
    await site.sql("INSERT INTO app.attachments (hash, data) VALUES ($1, $2)", sha256(b"planted"), b"planted")
    await site.look()
    assert await status(site, f"/a/{sha256(b'planted')}/gate.png") == 404


@pytest.mark.parametrize("change", ["UPDATE app.attachments SET data = 'other'", "DELETE FROM app.attachments"])
async def test_bytes_that_were_touched_are_not_shown_reported_and_sent_again(site: Living, change: str) -> None:
    await publish(site)
    assert await status(site, AT_PNG) == 200
    await site.sql("ALTER TABLE app.attachments DROP CONSTRAINT IF EXISTS attachments_hash")
    await site.sql(change)
    await site.look()
    assert (await status(site, "/doc/en/guide/gate"), await status(site, AT_PNG)) == (404, 404)
    assert any("attachment" in each["reason"] for each in await site.told("row.rejected"))
    assert (await site.told("gate.requested"))[-1]["after_seq"] < site.gate.seq
    await site.hear("attachment.published", bytes_of(of=PNG), bytes_of(of=CSV))
    await site.look()
    assert (await status(site, "/doc/en/guide/gate"), await status(site, AT_PNG)) == (200, 200)
    assert site.site.books.faults == {}
    await site.sql(
        "ALTER TABLE app.attachments ADD CONSTRAINT attachments_hash CHECK (hash = encode(sha256(data), 'hex'))"
    )


async def test_a_new_start_shows_what_is_complete_and_waits_for_the_rest(sites: Sites) -> None:
    first = await sites.start(Gatework())
    await first.greet()
    await publish(first)
    await first.hear(
        "item.published",
        entry(first.gate, "guide/later", (PICTURE, TABLE.model_copy(update={"hash": sha256(b"x"), "size": 1}))),
    )
    again = await sites.start(first.gate)
    await again.greet()
    assert await status(again, "/doc/en/guide/gate") == 200
    assert await status(again, AT_PNG) == 200
    assert await status(again, "/doc/en/guide/later") == 404
    await again.hear("attachment.published", bytes_of("guide/later", of=b"x"))
    assert await status(again, "/doc/en/guide/later") == 200
    assert [each["item_id"] for each in await again.told("item.applied")][-1] == str(
        item_id("doc", "en", "guide/later")
    )
