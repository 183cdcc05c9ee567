"""A table page by page: by filter and order, forwards and back, values that are missing last."""

from itertools import pairwise
from typing import Any

import pytest

from services.console.records.domain import Ask, Filter, read_filter, shape_of
from services.console.records.views import Page, page
from shared.errors import Refused
from tests.services.console.records.conftest import Shop

CREDITS = ("5", None, "1.5", "20", None, "5", "7", None, "3")


@pytest.fixture
async def filled(shop: Shop) -> Shop:
    rows = [{"code": f"C{number}", "name": f"N%_{number}", "credit": credit, "country": "Spain" if number % 2 else "Österreich"} for number, credit in enumerate(CREDITS)]  # fmt: skip
    await shop.add("customers", *rows)
    return shop


async def look(shop: Shop, **ask: Any) -> Page:
    async with shop.desk.db.transaction() as tx:
        return await page(tx, shape_of(shop.app, "customers"), Ask(**ask))


def codes(found: Page) -> list[str]:
    return [str(each["code"]) for each in found.rows]


async def test_every_row_comes_once_forwards_and_back(filled: Shop) -> None:
    for down in (False, True):
        await walk(filled, down=down)


async def walk(filled: Shop, *, down: bool) -> None:
    whole = codes(await look(filled, sort="credit", down=down))
    assert whole[:6] == (["C3", "C6", "C5", "C0", "C8", "C2"] if down else ["C2", "C8", "C0", "C5", "C6", "C3"])
    assert set(whole[6:]) == {"C1", "C4", "C7"}
    seen: list[str] = []
    pages: list[Page] = []
    after = ""
    while True:
        found = await look(filled, sort="credit", down=down, after=after, limit=2)
        seen, pages = [*seen, *codes(found)], [*pages, found]
        if not (after := found.on):
            break
    assert seen == whole
    for earlier, later in pairwise(pages):
        assert codes(await look(filled, sort="credit", down=down, before=later.back, limit=2)) == codes(earlier)


FOUND: dict[str, set[str]] = {
    "credit:from:5": {"C0", "C3", "C5", "C6"},
    "credit:less:5": {"C2", "C8"},
    "credit:empty:": {"C1", "C4", "C7"},
    "country:is:Spain": {"C1", "C3", "C5", "C7"},
    "country:starts:Öst": {"C0", "C2", "C4", "C6", "C8"},
    "name:contains:%_3": {"C3"},
    "name:contains:n%": {f"C{number}" for number in range(9)},
    "credit:not:5": {"C1", "C2", "C3", "C4", "C6", "C7", "C8"},
    "name:is:' OR 1=1 --": set(),
}
MEANINGLESS = (
    "nope:is:1",
    "credit:is:many",
    "credit:like:1",
    "visits:is:",
    "extra:is:1",
    "since:more:yesterday",
    ":::",
)
PLACES = ("x", "[]", '["1"]', '["a","b"]', "[null,null]", '{"a":1}', "[" * 2000)


async def test_filters_find_what_they_say(filled: Shop) -> None:
    shape = shape_of(filled.app, "customers")
    for asked, right in FOUND.items():
        found = await look(filled, filters=(read_filter(shape, asked),))
        assert (asked, set(codes(found))) == (asked, right)
        assert (found.count, found.about) == (len(right), False)
    for asked in MEANINGLESS:
        with pytest.raises(Refused):
            read_filter(shape, asked)
    for place in PLACES:
        await look(filled, sort="credit", after=place)
        await look(filled, filters=(Filter("credit", "more", "1"),), before=place)


async def test_a_filter_asks_true_and_false_in_every_way(shop: Shop) -> None:
    for code, active in (("T", "true"), ("F", "false"), ("N", None)):
        await shop.add("customers", {"code": code, "name": code, "active": active})
    shape = shape_of(shop.app, "customers")
    for asked, right in (
        ("is:yes", "T"),
        ("not:true", "FN"),
        ("less:true", "F"),
        ("more:0", "T"),
        ("from:0", "FT"),
        ("to:1", "FT"),
    ):
        found = await look(shop, filters=(read_filter(shape, f"active:{asked}"),))
        assert (asked, sorted(codes(found))) == (asked, sorted(right))
