"""AU-05: a search is for that text, not for a pattern; search, count and export agree; nobody sees more than is theirs."""

from typing import Any
from uuid import uuid4

import pytest

from schemas.outward import Owner
from services.connectors.audit.domain import Note
from services.connectors.audit.query import read_query, read_time
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.audit.usecases.search_audit import search_audit, search_own_audit
from shared.db import Database
from shared.errors import Refused
from tests.services.connectors.conftest import Office

TARGETS = (
    "50%_off.example",
    "50Xaoff.example",
    "back\\slash.example",
    "it's.example",
    'quo"te.example',
    "plain.example",
)
EXPECTED = {
    "50%_off": [0], "%": [0], "_": [0], "\\": [2], "'": [3], '"': [4], "": [5, 4, 3, 2, 1, 0], "nothing": [], ".example": [5, 4, 3, 2, 1, 0],
}  # fmt: skip


async def noted(db: Database, **more: Any) -> list[Note]:
    said: dict[str, Any] = {
        "asker": "agent",
        "connector": f"c-{uuid4().hex[:12]}",
        "operation": "fetch",
        "outcome": "ok",
    } | more
    notes = [Note(call_id=uuid4(), **({"target": target} | said)) for target in TARGETS]
    async with db.transaction() as tx:
        await record_notes(tx, notes)
    return notes


def targets(found: dict[str, Any]) -> list[int]:
    return [TARGETS.index(each["target"]) for each in found["entries"]]


async def everything(db: Database, asked: dict[str, Any]) -> list[int]:
    """As the export asks: page after page."""
    found: list[int] = []
    before: int | None = None
    while True:
        page = await search_audit(db, read_query(asked | {"before": before, "limit": 2}))
        found += targets(page)
        if page["next"] is None:
            return found
        before = page["next"]


async def test_au_05_search_count_and_export_agree_on_the_exact_text(office: Office) -> None:
    connector = (await noted(office.db))[0].connector
    for text, expected in EXPECTED.items():
        asked = {"q": text, "connector": connector}
        found = await search_audit(office.db, read_query(asked))
        assert targets(found) == expected, text
        assert found["found"] == len(expected) and not found["more"]
        assert await everything(office.db, asked) == expected, text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"q": "x" * 10_000}, "at most 500 characters; this one has 10000"),
        ({"q": "a\x00"}, "NUL"),
        ({"owner": "user:7"}, "knows no owner"),
        ({"since": "yesterday"}, "is no time"),
        ({"since": "2026-11-29T10:00:00"}, "needs its offset"),
        ({"limit": "many"}, "is a number"),
        ({"limit": float("inf")}, "is a number"),
        ({"until": "9999-12-31"}, "is no time"),
        ({"since": "0001-01-01T00:00:00+14:00"}, "is no time"),
        ({"until": "9999-12-31T23:59:59-14:00"}, "is no time"),
        ({"call_id": "7"}, "is no call's id"),
        ({"outcome": "good"}, "there is no result 'good'; there are bad, begun"),
    ],
)
def test_au_05_what_is_no_search_is_refused_with_the_limit(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        read_query(asked)


async def test_au_05_an_asker_sees_its_own_surface_and_the_delegated_owner_alone(office: Office) -> None:
    me, connector = Owner(kind="user", id=uuid4().hex), f"c-{uuid4().hex[:12]}"
    await noted(office.db, connector=connector, on_behalf_of=str(me))
    await noted(office.db, connector=connector, on_behalf_of="user:somebody-else")
    await noted(office.db, connector=connector, asker="console", on_behalf_of=str(me))
    await noted(office.db, connector=connector)
    asked = {"connector": connector, "limit": 100}
    mine = await search_own_audit(office.db, "agent", me, asked)
    assert {(each["asker"], each["on_behalf_of"]) for each in mine["entries"]} == {("agent", str(me))}
    assert mine["found"] == len(TARGETS)
    nobodys = await search_own_audit(office.db, "agent", None, asked)
    assert {each["on_behalf_of"] for each in nobodys["entries"]} == {""} and nobodys["found"] == len(TARGETS)
    for wider in ({"on_behalf_of": "user:somebody-else"}, {"asker": "console"}):
        assert (await search_own_audit(office.db, "agent", me, asked | wider))["found"] == 0
    assert (await search_own_audit(office.db, "site", me, asked))["found"] == 0


async def test_entries_are_found_by_every_field_by_time_and_by_their_ids(office: Office) -> None:
    trace = uuid4().hex
    notes = await noted(office.db, outcome="failed", status="503", on_behalf_of="user:7", trace_id=trace)
    connector = notes[0].connector
    first = (await search_audit(office.db, read_query({"connector": connector, "limit": 100})))["entries"][-1]
    for asked in (
        {"connector": connector, "status": "503"},
        {"connector": connector, "outcome": "bad"},
        {"connector": connector, "operation": "fetch", "on_behalf_of": "user:7", "asker": "agent"},
        {"connector": connector, "since": first["at"]},
        {"connector": connector, "since": first["at"][:10], "until": first["at"][:10]},
        {"trace_id": trace},
        {"q": trace},
    ):
        assert (await search_audit(office.db, read_query(asked)))["found"] == len(TARGETS), asked
    for asked in ({"call_id": first["call_id"]}, {"q": first["call_id"]}, {"q": first["hash"]}, {"q": first["hash"][:16]}, {"target": "50%_", "connector": connector}):  # fmt: skip
        found = await search_audit(office.db, read_query(asked))
        assert [each["seq"] for each in found["entries"]] == [first["seq"]], asked
    for none in ({"until": first["at"]}, {"since": "2099-01-01"}, {"outcome": "ok"}, {"target": "0%_off"}):
        assert (await search_audit(office.db, read_query({"connector": connector} | none)))["found"] == 0, none


def test_a_day_is_taken_whole() -> None:
    assert str(read_time("2026-11-29")) == "2026-11-29 00:00:00+00:00"
    assert str(read_time("2026-11-29", end=True)) == "2026-11-30 00:00:00+00:00"
