"""What programs and curious people send: every odd value gets a clear answer, none is a fault of ours, none does harm."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.factories.people import Person
from tests.factories.stack import Stack

pytestmark = pytest.mark.stack
HUGE = "9" * 30


@pytest.fixture(scope="module")
def program(stack: Stack, owner: Person) -> Iterator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {owner.api_token('moderator')}"}
    with httpx2.Client(base_url=stack.urls["console"] + "/api/v1", headers=headers) as client:
        yield client


@pytest.mark.parametrize("query", ["kind=%00", "lang=%00", "state=%00", "q=%00", "limit=-1", f"page={HUGE}"])
def test_an_odd_filter_is_refused_in_json(program: httpx2.Client, query: str) -> None:
    answer = program.get(f"/items?{query}")
    assert answer.status_code == 422 and answer.json()["message"]


@pytest.mark.parametrize("body", ["[" * 100_000, '{"a":' + "1" * 10_000 + "}", "\x00", "NaN"])
def test_a_body_that_is_no_json_is_called_that(program: httpx2.Client, body: str) -> None:
    answer = program.post("/items", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422 and answer.json()["code"] == "invalid"


@pytest.mark.parametrize(
    "path",
    [
        f"/parked/{HUGE}",
        "/audit/export.exe",
        "/queue/together?item=zz",
        "/connectors/%00",
        "/cards/apps/%00",
        "/apps/%00",
    ],
)
def test_what_does_not_exist_is_not_found(owner: Person, path: str) -> None:
    assert owner.page(path).status_code == 404


@pytest.mark.parametrize("path", [f"/parked/{HUGE}/replay", f"/parked/{HUGE}/drop", "/parked/1/everything"])
def test_a_parked_event_is_settled_only_by_number_and_by_a_known_word(owner: Person, path: str) -> None:
    assert owner.send(path, "/me").status_code == 404


@pytest.mark.parametrize("numbers", [(HUGE, "1"), ("9" * 5000, "1"), ("1", HUGE), ("-1", "1"), ("1", "²")])
def test_a_list_with_odd_numbers_decides_nothing(owner: Person, numbers: Any) -> None:
    told = f"00000000-0000-5000-8000-000000000000:{numbers[0]}:{numbers[1]}:{'0' * 64}:title"
    assert owner.send("/queue/together", "/me", item=told).status_code == 422
