"""What visitors filled into forms is kept once, and becomes records where a person chose a table; what does not fit says why and waits."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.site.v1 import FormAnswered
from services.console.answers import store
from services.console.answers.domain import ANSWERED_AT
from services.console.answers.usecases.map_form import map_form, unmap_form
from services.console.answers.usecases.record_answer import record_answer
from shared.clock import now
from shared.errors import Forbidden, Refused
from tests.services.console.records.conftest import OWNER, TOM, Shop, shop

__all__ = ["shop"]

FIELDS = {"mail": "code", "who": "name", "amount": "credit", ANSWERED_AT: "seen"}


async def answer(shop: Shop, item: UUID, **fields: str) -> UUID:
    data = FormAnswered(answer_id=uuid4(), item_id=item, form="signup", visitor="0" * 16, answers=fields, at=now())
    async with shop.desk.db.transaction() as tx:
        assert await record_answer(tx, data)
    async with shop.desk.db.transaction() as tx:
        assert not await record_answer(tx, data)
    return data.answer_id


async def chosen(shop: Shop, item: UUID, fields: dict[str, str], table: str = "customers") -> tuple[int, int]:
    async with shop.desk.db.transaction() as tx:
        return await map_form(tx, OWNER, item, "signup", shop.app, table, fields)


async def faults(shop: Shop, item: UUID) -> list[Any]:
    async with shop.desk.db.reading() as tx:
        return [each["fault"] for each in await store.of_form(tx, item, "signup") if each["row_key"] is None]


async def test_answers_wait_and_then_become_rows_each_once(shop: Shop) -> None:
    item = uuid4()
    await answer(shop, item, mail="a@example.org", who="<script>alert(1)</script>", amount="1.5")
    assert await shop.rows("customers") == []
    assert await chosen(shop, item, FIELDS | {"note": ""}) == (1, 0)
    await answer(shop, item, mail="b@example.org", who="Bo", amount="")
    rows = await shop.rows("customers")
    assert [(row["code"], row["name"], row["credit"] is None) for row in rows] == [
        ("a@example.org", "<script>alert(1)</script>", False), ("b@example.org", "Bo", True),
    ]  # fmt: skip
    assert {each["how"] for each in await shop.history("customers")} == {"form"}


async def test_what_does_not_fit_says_why_and_is_placed_when_it_does(shop: Shop) -> None:
    item = uuid4()
    await chosen(shop, item, FIELDS)
    await answer(shop, item, mail="c@example.org", who="", amount="many")
    [fault] = await faults(shop, item)
    assert "must not be empty" in fault
    assert await chosen(shop, item, {"mail": "note"}, "orders") == (1, 0)
    assert await faults(shop, item) == []


async def test_a_mapping_that_could_hold_nothing_is_refused(shop: Shop) -> None:
    for fields, says in (
        ({}, "at least one"),
        ({"who": "name"}, "needs code"),
        (FIELDS | {"x": "name"}, "one column"),
        ({"mail": "nope"}, "no column"),
    ):
        with pytest.raises(Refused, match=says):
            await chosen(shop, uuid4(), fields)
    async with shop.desk.db.transaction() as tx:
        with pytest.raises(Forbidden):
            await unmap_form(tx, TOM, uuid4(), "signup")
