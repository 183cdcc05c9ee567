"""From a turn to the figures: one row of the ledger, told through the lock, the same by API, page and command."""

from typing import Any

import httpx2
import pytest

from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


def spend(stack: Stack, token: str, **asked: Any) -> httpx2.Response:
    return httpx2.get(f"{stack.urls['console']}/api/v1/spend", params=asked, headers={"Authorization": f"Bearer {token}"}, timeout=30)  # fmt: skip


def test_a_turn_is_a_row_of_the_ledger_and_a_figure_of_the_console(stack: Stack, owner: Person) -> None:
    turn = stack.cli("chat", "hello", "--guest")["turn_id"]
    assert stack.value("agent", f"SELECT count(*) FROM core.usage_ledger WHERE turn_id = '{turn}'") == 1
    token = owner.api_token("owner")

    def arrived() -> dict[str, Any] | None:
        lines: list[dict[str, Any]] = spend(stack, token, by="turn", days=1, everybody=True).json()["lines"]
        return next((each for each in lines if each["key"] == turn), None)

    line = until(arrived, 20, "the row arrived")
    assert line is not None
    assert (line["calls"], line["cost"], line["unknown"], line["name"]) == (1, "0", 0, "all guests, chat")
    told = stack.cli("spend", "--by", "turn", "--days", "1")
    assert next(each for each in told["lines"] if each["key"] == turn) == line
    assert any(each["key"] == "guest:guests" and each["cap"] == "1" for each in told["last_24_hours"])
    page = owner.page("/spend", whose="all", by="owner", days=1)
    assert page.status_code == 200 and "all guests" in page.text and "$1.00" in page.text


def test_a_member_sees_what_was_spent_for_them_alone(stack: Stack, owner: Person) -> None:
    member = owner.add("member")
    token = member.api_token("member")
    refused = spend(stack, token, everybody=True)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert member.page("/spend", whose="all").status_code == 403
    mine = spend(stack, token).json()
    assert mine["lines"] == [] and [each["spent"] for each in mine["last_24_hours"]] == ["0"]
    assert member.page("/spend").status_code == 200


def test_a_key_of_the_agents_api_reads_the_figures_and_does_nothing_else_at_the_console(stack: Stack, owner: Person) -> None:  # fmt: skip
    member = owner.add("member")
    key = stack.cli("apikey", "create", member.handle, "--name", "report")
    assert spend(stack, key["key"]).status_code == 200
    assert spend(stack, key["key"], everybody=True).status_code == 403
    new = {"kind": "doc", "lang": "en", "path": "by-a-key", "markdown": "# By a key\n"}
    answer = httpx2.post(f"{stack.urls['console']}/api/v1/items", json=new, headers={"Authorization": f"Bearer {key['key']}"}, timeout=30)  # fmt: skip
    assert (answer.status_code, answer.json()["code"]) == (401, "key")
    stack.cli("apikey", "revoke", key["id"])
    assert spend(stack, key["key"]).status_code == 401


@pytest.mark.parametrize("asked", [{"by": "secret"}, {"by": "owner'; --"}, {"days": 0}, {"days": 366}, {"days": "many"}, {"by": "x" * 41}])  # fmt: skip
def test_what_cannot_be_asked_is_refused(stack: Stack, owner: Person, asked: dict[str, Any]) -> None:
    assert spend(stack, owner.api_token("viewer"), **asked).status_code == 422
