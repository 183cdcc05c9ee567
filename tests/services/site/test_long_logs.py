"""A log too long to be verified signature by signature before anybody is answered: its newest signature opens it, the others follow (S6)."""

from collections.abc import Sequence

import pytest

from schemas.statements import Signed
from services.site.publication.chain import Link, LogState, check_signatures, follow, replay
from services.site.publication.usecases import sweep_rows
from shared.errors import BadSignature
from tests.services.site.conftest import Living, Sites
from tests.services.site.gatework import Gatework, link, new_key


@pytest.fixture(autouse=True)
def every_log_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_rows, "AT_ONCE", 0)


def a_log(gate: Gatework) -> list[Link]:
    second = new_key()
    entries = [gate.publish("a"), gate.change_key("added", second), gate.publish("b", by=second)]
    return [link(each) for each in (*entries, gate.mode("members"), gate.publish("c"))]


def start(gate: Gatework) -> LogState:
    return LogState(gate.keys.ids("decision"))


def spoilt(signed: Signed) -> Signed:
    return signed.model_copy(update={"signature": bytes(64)})


def test_following_a_log_finds_what_verifying_it_link_by_link_finds() -> None:
    gate = Gatework()
    links, keys = a_log(gate), gate.keys
    found = follow(start(gate), links, keys)
    state, entered, fault = replay(start(gate), links, gate.keys)
    assert (found, fault) == ((state, entered), None)
    for each in links:
        check_signatures(each, keys)


@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("what", ["left out", "another statement", "another entry", "out of order"])
def test_a_log_of_which_a_byte_is_another_is_not_followed(at: int, what: str) -> None:
    gate = Gatework()
    links = a_log(gate)
    other = link(gate.publish("x"))
    changed: Sequence[Link] = {
        "left out": [*links[:at], *links[at + 1 :]],
        "another statement": [*links[:at], Link(links[at].gate, other.statement), *links[at + 1 :]],
        "another entry": [*links[:at], Link(other.gate, links[at].statement), *links[at + 1 :]],
        "out of order": [*links[:at], *links[at + 1 :], links[at]] if at < 4 else links[::-1],
    }[what]
    if what == "left out" and at == 4:
        assert follow(start(gate), changed, gate.keys) is not None, (
            "a log may end earlier: its head says how far it went"
        )
        return
    assert follow(start(gate), changed, gate.keys) is None


def test_a_key_of_a_log_that_is_not_right_is_not_learned() -> None:
    gate = Gatework()
    links, keys = a_log(gate), gate.keys
    assert follow(start(gate), [*links[:-1], Link(spoilt(links[-1].gate), links[-1].statement)], keys) is None
    assert keys.ids("decision") == gate.keys.ids("decision")


async def restarted(sites: Sites, site: Living) -> Living:
    again = await sites.start(site.gate)
    await again.greet()
    return again


async def test_signatures_are_verified_while_the_site_answers(sites: Sites, site: Living) -> None:
    url = await site.publish("a")
    again = await restarted(sites, site)
    assert (await again.http.get(url)).status_code == 200
    for _ in range(200):
        if not again.site.books.unproven:
            break
        await again.look()
    assert (again.site.books.unproven, again.site.books.doubted) == ({}, False)


@pytest.mark.parametrize("column", ["signature", "statement_signature"])
async def test_a_signature_put_in_by_hand_shows_nothing_and_is_told(sites: Sites, site: Living, column: str) -> None:
    """Nobody but the signature itself says so: the hashes of the chain do not hold it."""
    first, last = await site.publish("a"), await site.publish("b")
    for table in ("gate_entries", "entries"):
        await site.sql(f"UPDATE app.{table} SET {column} = $1 WHERE seq = 0", bytes(64))
    again = await restarted(sites, site)
    assert (await again.http.get(first)).status_code == 404
    await again.look()
    assert any("touched" in each["reason"] for each in await again.told("row.rejected"))
    await again.replay()
    await again.look()
    assert [(await again.http.get(url)).status_code for url in (first, last)] == [200, 200]


def test_the_signatures_are_what_they_are_checked_for() -> None:
    gate = Gatework()
    good = a_log(gate)[0]
    for bad in (Link(spoilt(good.gate), good.statement), Link(good.gate, spoilt(good.statement))):
        with pytest.raises(BadSignature):
            check_signatures(bad, gate.keys)
