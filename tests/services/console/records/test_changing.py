"""Records are typed, changed with history, undone as a new change; two people at one cell do not overwrite one another (rule 30)."""

import asyncio
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from schemas.text import sha256
from services.console.records.usecases.share_row import share_row
from shared.errors import Conflict, Forbidden, NotFound, Refused
from tests.services.console.records.conftest import OWNER, TOM, VIEWER, Shop

ANNA: dict[str, str | None] = {
    "code": "A1", "name": "Anna <b>&", "country": "Österreich", "since": "31.08.2026", "credit": "12.50", "active": "ja", "stage": "won",
    "extra": '{"a": [1, "é"]}', "seen": "2026-08-31T14:05:00+02:00", "visits": "7",
}  # fmt: skip


async def test_values_are_typed_and_empty_is_null(shop: Shop) -> None:
    assert await shop.add("customers", ANNA, {"code": "B", "name": "Bo"}) == ['["A1"]', '["B"]']
    [anna, bo] = await shop.rows("customers")
    assert anna["since"] == date(2026, 8, 31)
    assert anna["credit"] == Decimal("12.50")
    assert anna["active"] is True
    assert anna["extra"] in ({"a": [1, "é"]}, '{"a": [1, "é"]}')
    assert anna["seen"] == datetime(2026, 8, 31, 12, 5, tzinfo=UTC)
    assert [bo[name] for name in ("country", "credit", "active", "visits")] == [None] * 4
    assert anna["_changed_by"] == "Tom Brandt"


UNFIT = [
    ("visits", "7.5", "whole number"), ("credit", "1,5", "with a point"), ("credit", "NaN", "number"), ("active", "maybe", "true or false"),
    ("since", "2026-02-30", "a date"), ("seen", "soon", "a time"), ("stage", "gone", "one of lead, won, lost"), ("extra", "{", "JSON"),
    ("extra", '"\\u0000"', "NUL"), ("name", "", "must not be empty"), ("country", "a\0b", "NUL"), ("visits", "9" * 19, "whole number"), ("nope", "x", "no column"),
    ("country", "".join(sha256(str(number).encode()) for number in range(300)), "too much for one row"),
]  # fmt: skip
NO_KEYS = ("", "A1", '["A1","x"]', "[1]", '{"a":1}', '["' + "x" * 3000 + '"]')


async def test_what_does_not_fit_is_refused_and_says_why(shop: Shop) -> None:
    for column, text, says in UNFIT:
        with pytest.raises(Refused, match=says):
            await shop.add("customers", ANNA | {column: text})
    assert await shop.rows("customers") == []
    for key in NO_KEYS:  # like a row that is not there
        with pytest.raises(NotFound, match="no such row"):
            await shop.change("customers", key, visits="1")
    with pytest.raises(Forbidden):
        await shop.add("customers", ANNA, by=VIEWER)


async def test_two_people_at_one_cell_the_second_is_told_what_the_first_wrote(shop: Shop) -> None:
    [key] = await shop.add("customers", ANNA)
    was = {"country": "Österreich"}
    done = await asyncio.gather(
        shop.change("customers", key, was=was, country="Spain"),
        shop.change("customers", key, was=was, country="France"),
        return_exceptions=True,
    )
    [row] = await shop.rows("customers")
    [lost] = [each for each in done if isinstance(each, Conflict)]
    assert f"country is “{row['country']}” now" in lost.message
    assert len(await shop.history("customers")) == 2
    await shop.change(
        "customers", key, was={"visits": "7"}, visits="8"
    )  # another cell of the same row is nobody's conflict


async def test_a_change_is_undone_by_a_new_change_and_only_once(shop: Shop) -> None:
    [key] = await shop.add("customers", ANNA)
    await shop.change("customers", key, credit="20", visits=None)
    [_, changed] = await shop.history("customers")
    assert (changed["what"], changed["how"], changed["by_name"]) == ("changed", "page", "Tom Brandt")
    await shop.undo("customers", changed["position"])
    [row] = await shop.rows("customers")
    assert (row["credit"], row["visits"], row["_version"]) == (Decimal("12.50"), 7, 3)
    with pytest.raises(Conflict, match="undone already"):
        await shop.undo("customers", changed["position"])


async def test_what_went_on_since_is_not_undone(shop: Shop) -> None:
    [key] = await shop.add("customers", ANNA)
    await shop.change("customers", key, visits="8")
    position = (await shop.history("customers"))[-1]["position"]
    await shop.change("customers", key, visits="9")
    with pytest.raises(Conflict, match="visits was changed since"):
        await shop.undo("customers", position)


async def test_a_deleted_row_comes_back_whole_with_its_number(shop: Shop) -> None:
    await shop.add("customers", ANNA)
    [key] = await shop.add("orders", {"customer": "A1", "note": "First"})
    before = await shop.rows("orders")
    assert await shop.delete("orders", key, '["999999"]') != []
    await shop.undo("orders", (await shop.history("orders"))[-1]["position"])
    [row] = await shop.rows("orders")
    assert (row["id"], row["note"]) == (before[0]["id"], "First")


async def test_references_and_keys_hold_and_the_answer_is_in_words(shop: Shop) -> None:
    await shop.add("customers", ANNA)
    await shop.add("orders", {"customer": "A1"})
    with pytest.raises(Refused, match="reference does not hold"):
        await shop.add("orders", {"customer": "nobody"})
    with pytest.raises(Refused, match="reference does not hold"):
        await shop.delete("customers", '["A1"]')
    with pytest.raises(Conflict, match="such a row already"):
        await shop.add("customers", ANNA)


async def test_a_row_is_shared_as_it_is_and_imported_words_are_an_outsiders(shop: Shop) -> None:
    [typed] = await shop.add("customers", ANNA)
    [brought] = await shop.add("customers", {"code": "B", "name": "Bo"}, how="import")
    for key, source in ((typed, "staff"), (brought, "outside")):
        async with shop.desk.db.transaction() as tx:
            shared = await share_row(tx, OWNER, shop.app, "customers", key)
        [row] = await shop.desk.rows("SELECT source, text FROM app.shares WHERE record_id = $1", shared)
        assert (row["source"], "name: " in row["text"]) == (source, True)
    async with shop.desk.db.transaction() as tx:
        with pytest.raises(Forbidden):
            await share_row(tx, TOM, shop.app, "customers", typed)


async def test_a_key_that_no_address_could_name_is_refused(shop: Shop) -> None:
    await shop.add("customers", {"code": "A", "name": "A"})
    for code in ("x" * 2001, '"' * 1200):
        with pytest.raises(Refused, match="at most 2,000"):
            await shop.add("customers", {"code": code, "name": "B"})
        with pytest.raises(Refused, match="at most 2,000"):
            await shop.change("customers", '["A"]', code=code)
    assert [row["code"] for row in await shop.rows("customers")] == ["A"]
