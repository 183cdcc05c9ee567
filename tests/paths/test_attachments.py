"""Attachments through the whole lock: submitted, inspected, decided on, served, and gone with their item (rules 5, 10, 11; S13)."""

import re
from base64 import b64encode
from typing import Any
from uuid import uuid4

import pytest

from tests.factories.documents import Item, decide, withdraw
from tests.factories.people import Person
from tests.factories.pictures import HIDDEN, given, picture, telling
from tests.factories.reviews import look
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
WITHIN = 60
PATIENT = 2.0
"""Seconds (rule 11)."""


def hand_in(stack: Stack, files: list[dict[str, str]], body: str = "![Two gates](gate.png)\n\n[table](t.csv)") -> Item:
    name = f"files-{uuid4().hex[:10]}"
    one = {"kind": "page", "lang": "en", "path": name, "text": f"# {name}\n\n{body}\n", "files": files}
    found = stack.ask("console", "items.submit", items=[one])
    assert not found["refused"], found
    return Item(found["items"][0]["item_id"], "page", "en", name)


def addresses(page: str) -> list[str]:
    return re.findall(r'(?:src|href)="(/a/[0-9a-f]{64}/[^"]+)"', page)


def test_pb_04_what_was_approved_is_served_and_gone_with_its_item(
    stack: Stack, moderator: Person, visitor: Visitor
) -> None:
    table = f"a,b\n1,{uuid4().hex}\n".encode()
    item = hand_in(stack, [given("gate.png", telling("PNG", (800, 500))), given("t.csv", table)])
    page = moderator.page(f"/queue/{item.item_id}").text
    shown = re.findall(rf"/queue/{item.item_id}/files/1/[0-9a-f]{{64}}", page)
    assert len(set(shown)) == 2, "everything that can be downloaded is listed"
    assert "data:image/png;base64," in moderator.page(f"/queue/{item.item_id}/preview").text
    assert look(moderator, item).decide("approve").status_code == 303
    until(lambda: visitor.sees(item), WITHIN)
    [at_picture, at_table] = addresses(visitor.get(item.url).text)[:2]
    served = visitor.get(at_picture)
    assert served.status_code == 200
    assert HIDDEN.encode() not in served.content
    assert visitor.get(at_table).content == table
    assert {moderator.page(each).content for each in set(shown)} == {served.content, table}, (
        "what was seen is what ships"
    )
    withdraw(stack, item)
    until(lambda: visitor.get(item.url).status_code == 410, WITHIN)
    for url in (at_picture, at_table):
        until(lambda at=url: visitor.get(at).status_code == 410, PATIENT)  # type: ignore[misc]
        assert visitor.get(url, If_None_Match=served.headers["etag"]).status_code == 410
    assert stack.value("bridge", f"SELECT count(*) FROM core.attachments WHERE hash = '{at_table.split('/')[2]}'") == 1


def test_s13_words_in_a_picture_that_the_lock_gets_stop_it(stack: Stack) -> None:
    """A console or agent that does not make pictures anew: their bytes come as they are."""
    done = stack.ask("bridge", "inspection.file", name="a.png", data=b64encode(telling("PNG")).decode())
    assert [each["level"] for each in done["findings"]] == ["block"]


def test_a_new_revision_keeps_its_files_and_an_approval_names_just_them(
    stack: Stack, moderator: Person, visitor: Visitor
) -> None:
    item = hand_in(stack, [given("gate.png", picture())], "![](gate.png)")
    decide(stack, item)
    until(lambda: visitor.sees(item), WITHIN)
    [at] = addresses(visitor.get(item.url).text)
    form = moderator.page(f"/submit?item={item.item_id}").text
    kept = re.findall(r'name="keep" value="([0-9a-f]{64})"', form)
    assert kept == [at.split("/")[2]]
    fields: dict[str, Any] = {
        "kind": "page",
        "lang": "en",
        "path": item.path,
        "audience": "public",
        "item": item.item_id,
    }
    text = f"# {item.path}\n\nSecond. ![](gate.png)\n"
    moderator.send("/submit", "/submit", **fields, markdown=text, keep=kept[0])
    until(
        lambda: (
            "Revision 2" in moderator.page(f"/queue/{item.item_id}").text
            or "2 of 2" in moderator.page(f"/queue/{item.item_id}").text
        ),
        WITHIN,
    )
    decide(stack, item)
    until(lambda: "Second." in visitor.get(item.url).text, WITHIN)
    assert addresses(visitor.get(item.url).text) == [at]
