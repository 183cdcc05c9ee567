"""Entries of the gate's log on a real database: order, gaps, restarts, rows touched by hand (S6, issue items 5 and PB-04)."""

import pytest

from services.site.publication.chain import BadReceipt
from shared.errors import BadSignature
from shared.ids import item_id
from tests.services.site.conftest import Living, Sites
from tests.services.site.gatework import Gatework, new_key


async def status(site: Living, url: str) -> int:
    return (await site.http.get(url)).status_code


async def test_a_published_item_is_there_at_once_and_reported(site: Living) -> None:
    url = await site.publish("guide/start", "# Start\n\nHello *world*.", title="Start", revision=2)
    page = await site.http.get(url)
    assert page.status_code == 200
    assert "<em>world</em>" in page.text
    told = await site.told("item.applied")
    assert [(each["effect"], each["gate_seq"], each["revision"]) for each in told] == [("live", 0, 2)]


async def test_a_withdrawn_item_is_gone_from_everywhere(site: Living) -> None:
    """PB-04: page, list, feed, search, sitemap, receipt; and no 304 for what is gone."""
    paths = ["one", "two", "three"]
    urls = [await site.publish(path, f"Body of the {path} lighthouse.", title=f"Title {path}") for path in paths]
    everywhere = ["/", "/doc/", "/doc/en/", "/feed.xml", "/sitemap.xml", "/search?q=lighthouse"]
    for url in everywhere:
        text = (await site.http.get(url)).text
        assert all(f"/doc/en/{path}" in text for path in paths), url
    etag = (await site.http.get(urls[0])).headers["etag"]
    assert (await site.http.get(urls[0], headers={"if-none-match": etag})).status_code == 304
    for path in paths:
        await site.hear("item.retracted", site.gate.retract(item_id("doc", "en", path)))
    gone = await site.http.get(urls[0], headers={"if-none-match": etag})
    assert gone.status_code == 410
    assert gone.headers["cache-control"] == "private, no-store"
    for url in everywhere:
        text = (await site.http.get(url)).text
        assert not any(f"/doc/en/{path}" in text or f"Title {path}" in text for path in paths), url
    assert await status(site, f"/receipt/{item_id('doc', 'en', 'one')}") == 404
    assert [each["effect"] for each in await site.told("item.applied")] == ["live"] * 3 + ["gone"] * 3


async def test_never_public_and_wrong_addresses_look_the_same(site: Living) -> None:
    await site.publish("inner", "Secret.", audience="members")
    hidden, wrong = await site.http.get("/doc/en/inner"), await site.http.get("/doc/en/nothing")
    assert (hidden.status_code, hidden.text) == (404, wrong.text)
    assert await status(site, "/doc/en/") == 404


async def test_what_was_public_and_is_for_members_now_is_gone(site: Living) -> None:
    url = await site.publish("inner", "Open.")
    await site.publish("inner", "Closed.", audience="members", revision=2)
    assert await status(site, url) == 410


async def test_a_late_entry_waits_for_the_gap_to_close(site: Living) -> None:
    first, second, third = (site.gate.publish(name) for name in "abc")
    await site.hear("item.published", third, second)
    assert await status(site, "/doc/en/b") == 404
    assert (await site.told("gate.requested"))[-1]["after_seq"] == -1
    await site.hear("item.published", first)
    assert [await status(site, f"/doc/en/{name}") for name in "abc"] == [200, 200, 200]
    assert await site.value("SELECT count(*) FROM app.held_entries") == 0
    await site.hear("item.published", third, first)
    assert [each["gate_seq"] for each in await site.told("item.applied")] == [0, 1, 2]


async def test_a_withdrawal_before_its_publication_leaves_nothing(site: Living) -> None:
    publication = site.gate.publish("a")
    withdrawal = site.gate.retract(publication.item_id)
    await site.hear("item.retracted", withdrawal)
    await site.hear("item.published", publication)
    assert await status(site, "/doc/en/a") == 410
    await site.hear("item.published", publication)
    assert await status(site, "/doc/en/a") == 410


async def test_what_is_forged_changes_nothing(site: Living) -> None:
    good = await site.publish("a")
    stranger = Gatework(seq=site.gate.seq, hash=site.gate.hash)
    with pytest.raises(BadSignature):
        await site.hear("item.published", stranger.publish("b"))
    stranger.gate, stranger.seq, stranger.hash = site.gate.gate, site.gate.seq, site.gate.hash
    with pytest.raises(BadReceipt, match="not known"):
        await site.hear("item.published", stranger.publish("b"))
    swapped = site.gate.publish("c").model_copy(update={"content": b"{}"})
    with pytest.raises(BadReceipt):
        await site.hear("item.published", swapped)
    assert [await status(site, f"/doc/en/{name}") for name in "bc"] == [404, 404]
    assert await status(site, good) == 200


async def test_a_rolled_back_entry_is_not_shown(site: Living) -> None:
    data = site.gate.publish("a")
    with pytest.raises(BadReceipt):
        await site.hear("item.published", data, data.model_copy(update={"item_id": item_id("doc", "en", "b")}))
    assert await status(site, "/doc/en/a") == 404
    await site.hear("item.published", data)
    assert await status(site, "/doc/en/a") == 200


async def test_a_restarted_site_waits_for_the_gate_and_shows_the_same(sites: Sites, site: Living) -> None:
    url = await site.publish("a")
    again = await sites.start(site.gate)
    waiting = await again.http.get(url)
    assert (waiting.status_code, waiting.headers["retry-after"]) == (503, "5")
    assert (await again.told("gate.requested"))[-1] == {"after_seq": 0, "nonce": again.site.books.door.nonce}
    await again.greet()
    assert await status(again, url) == 200


async def test_a_withdrawal_that_was_missed_while_down_is_never_overlooked(sites: Sites, site: Living) -> None:
    url = await site.publish("a")
    missed = site.gate.retract(item_id("doc", "en", "a"))
    again = await sites.start(site.gate)
    await again.greet()
    assert await status(again, url) == 503
    await again.hear("item.retracted", missed)
    assert await status(again, url) == 410


async def test_another_instance_of_the_site_follows(sites: Sites, site: Living) -> None:
    other = await sites.start(site.gate)
    await other.hear("head.sealed", site.gate.head(other.site.books.door.nonce))
    url = await site.publish("a", "One.")
    await other.look()
    assert "One." in (await other.http.get(url)).text
    await other.publish("a", "Two.", revision=2)
    await site.look()
    assert "Two." in (await site.http.get(url)).text
    await site.hear("item.retracted", site.gate.retract(item_id("doc", "en", "a")))
    await other.look()
    assert await status(other, url) == 410
    assert await site.told("row.rejected") == []


async def test_a_head_that_another_instance_received_counts(sites: Sites, site: Living) -> None:
    other = await sites.start(site.gate)
    assert await status(other, "/") == 503
    await site.hear("head.sealed", site.gate.head(other.site.books.door.nonce))
    await other.look()
    assert await status(other, "/") == 200


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE app.entries SET content = convert_to(replace(convert_from(content, 'utf8'), 'Text', 'Evil'), 'utf8')",
        "UPDATE app.entries SET audience = 'members'",
        "UPDATE app.entries SET path = 'elsewhere'",
        "UPDATE app.entries SET statement = convert_to(replace(convert_from(statement, 'utf8'), 'public', 'hidden'), 'utf8')",
        "UPDATE app.entries SET signature = statement_signature",
        "UPDATE app.entries SET seq = 9",
    ],
    ids=["body", "audience", "path", "statement", "signature", "place"],
)
async def test_a_row_changed_by_hand_is_not_shown_and_reported_once(site: Living, statement: str) -> None:
    url = await site.publish("a", "Text.")
    await site.publish("b", "Bystander.")
    await site.http.get(url)
    await site.sql(statement + " WHERE item_id = $1", item_id("doc", "en", "a"))
    await site.look()
    assert await status(site, url) == 404
    assert await status(site, "/doc/en/b") == 200
    await site.look()
    told = await site.told("row.rejected")
    assert [each["item_id"] for each in told] == [str(item_id("doc", "en", "a"))]
    assert not site.health.conditions["rows"].ok
    await site.publish("a", "Text, approved anew.", revision=2)
    await site.look()
    assert "approved anew" in (await site.http.get(url)).text
    assert site.health.conditions["rows"].ok


async def test_a_row_changed_by_hand_is_not_even_rendered_before_it_is_noticed(site: Living) -> None:
    url = await site.publish("a", "Text.")
    await site.sql(
        "UPDATE app.entries SET content = convert_to(replace(convert_from(content, 'utf8'), 'Text', 'Evil'), 'utf8')"
    )
    page = await site.http.get(url)
    assert page.status_code == 404
    assert "Evil" not in page.text


async def test_a_row_put_in_by_hand_is_never_shown(site: Living) -> None:
    await site.publish("a")
    await site.sql(
        """INSERT INTO app.entries (item_id, seq, kind, lang, path, audience, content_hash, entry, signature, key_id, statement,
             statement_signature, statement_key_id, content)
           SELECT $1, seq, kind, lang, 'b', audience, content_hash, entry, signature, key_id, statement, statement_signature,
             statement_key_id, content FROM app.entries""",
        item_id("doc", "en", "b"),
    )
    await site.look()
    assert await status(site, "/doc/en/b") == 404
    assert [each["path"] for each in await site.told("row.rejected")] == ["b"]
    await site.publish("b", "Properly.")
    assert "Properly." in (await site.http.get("/doc/en/b")).text


async def test_a_row_in_the_place_of_another_blocks_nothing(site: Living) -> None:
    await site.publish("a")
    await site.sql("UPDATE app.entries SET path = 'b'")
    await site.look()
    assert await status(site, await site.publish("b", "Properly.")) == 200


async def test_a_deleted_row_is_reported_and_asked_for_and_comes_back(site: Living) -> None:
    url = await site.publish("a")
    await site.publish("b")
    await site.sql("DELETE FROM app.entries WHERE path = 'a'")
    await site.look()
    assert await status(site, url) == 404
    assert "missing" in (await site.told("row.rejected"))[0]["reason"]
    assert (await site.told("gate.requested"))[-1]["after_seq"] == -1
    await site.replay()
    assert await status(site, url) == 200
    await site.look()
    assert site.health.conditions["rows"].ok
    await site.sql("DELETE FROM app.entries WHERE path = 'a'")
    await site.look()
    assert len(await site.told("row.rejected")) == 2


async def test_a_fault_is_not_reported_again_after_a_restart(sites: Sites, site: Living) -> None:
    await site.publish("a")
    await site.sql("UPDATE app.entries SET audience = 'members'")
    await site.look()
    again = await sites.start(site.gate)
    await again.greet()
    assert await status(again, "/doc/en/a") == 404
    assert len(await site.told("row.rejected")) == 1


async def test_a_deleted_tombstone_and_an_old_row_bring_nothing_back(site: Living) -> None:
    url = await site.publish("a")
    await site.sql("CREATE TABLE app.stolen AS SELECT * FROM app.entries")
    try:
        await site.hear("item.retracted", site.gate.retract(item_id("doc", "en", "a")))
        await site.sql("DELETE FROM app.tombstones")
        await site.sql("INSERT INTO app.entries SELECT * FROM app.stolen")
        await site.look()
        assert await status(site, url) == 410
        assert "withdrawn" in (await site.told("row.rejected"))[0]["reason"]
    finally:
        await site.sql("DROP TABLE app.stolen")


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM app.gate_entries WHERE seq = 1", "UPDATE app.gate_entries SET statement = entry WHERE seq = 1"],
    ids=["deleted", "changed"],
)
async def test_a_log_touched_by_hand_is_reported_and_healed_by_the_gate(site: Living, statement: str) -> None:
    for name in "abc":
        await site.publish(name)
    await site.look()
    await site.sql(statement)
    await site.look()
    assert "touched" in (await site.told("row.rejected"))[0]["reason"]
    assert (await site.told("gate.requested"))[-1]["after_seq"] == 0
    await site.replay()
    await site.look()
    assert await site.value("SELECT seq FROM app.site_state") == 2
    assert site.health.conditions["rows"].ok
    await site.publish("d")
    assert [await status(site, f"/doc/en/{name}") for name in "abcd"] == [200] * 4


async def test_an_old_backup_shows_nothing_until_the_gate_has_filled_it(sites: Sites, site: Living) -> None:
    await site.publish("a")
    await site.hear("item.retracted", site.gate.retract(item_id("doc", "en", "a")))
    await site.sql("DELETE FROM app.gate_entries WHERE seq = 1")
    await site.sql("UPDATE app.site_state SET seq = 0, hash = (SELECT hash FROM app.gate_entries WHERE seq = 0)")
    restored = await sites.start(site.gate)
    await restored.greet()
    assert await status(restored, "/doc/en/a") == 503
    await restored.replay(after=0)
    assert await status(restored, "/doc/en/a") == 410


async def test_a_revoked_key_publishes_nothing_more(site: Living) -> None:
    second = new_key()
    await site.publish("a")
    await site.hear("key.recorded", site.gate.change_key("added", second))
    await site.publish("b", by=second)
    await site.hear("key.recorded", site.gate.change_key("revoked", site.gate.decider, by=second))
    with pytest.raises(BadReceipt, match="revoked"):
        await site.publish("c")
    assert [await status(site, f"/doc/en/{name}") for name in "abc"] == [200, 200, 404]


async def test_the_modes_shut_the_site_for_everybody(site: Living) -> None:
    url = await site.publish("a")
    await site.http.get(url)
    for mode in ("off", "members"):
        await site.hear("mode.entered", site.gate.mode(mode))
        for address in (url, "/", "/feed.xml", "/sitemap.xml", "/search?q=text", "/nothing"):
            answer = await site.http.get(address)
            assert (answer.status_code, answer.headers["cache-control"]) == (403, "private, no-store")
            assert "/doc/en/a" not in answer.text and answer.text == (await site.http.get("/")).text
    await site.hear("mode.entered", site.gate.mode("open"))
    assert await status(site, url) == 200


async def test_hundreds_of_entries_out_of_order_end_in_order(site: Living) -> None:
    entries = [site.gate.publish(f"p{number}") for number in range(300)]
    await site.hear("item.published", *reversed(entries))
    assert await site.value("SELECT seq FROM app.site_state") == 299
    assert len(site.site.books.shelf) == 300
