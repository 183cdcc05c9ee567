"""A card's whole way: an asker waits, an owner is told, decides on the console's page, and both the connectors and the asker learn of it (rule 28, S5)."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest

from shared.errors import Refused, SchleuseError
from shared.ids import fresh_id
from tests.counterparts.server import Counterpart, Seen, serving, whole
from tests.factories.asking import asking, declare
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
NAME = f"carded-{fresh_id().hex[:6]}"
EVIL = "Open evil.test:443 <script>alert(1)</script> \u202egnp"


async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
    writer.write(whole(200, b"here"))


@pytest.fixture(scope="module")
def there(stack: Stack) -> Iterator[Counterpart]:
    with serving(answer) as found:
        declare(stack, NAME, base=found.url, methods=["GET", "POST"])
        yield found


async def get(asker: Any, operation: str = "get", **more: Any) -> SchleuseError | None:
    try:
        await asker.call(NAME, operation, {"path": "/asked"}, **more)
    except SchleuseError as error:
        return error
    return None


def ask(stack: Stack, operation: str = "get", **more: Any) -> SchleuseError | None:
    """What the agent was told, None when it got through."""
    return asking(stack, lambda asker: get(asker, operation, **more))


def card_of(error: SchleuseError | None) -> str:
    assert isinstance(error, Refused) and error.code == "card_pending", error
    found = re.search(r"/cards/([0-9a-f-]{36})", error.message)
    assert found, error.message
    return found[1]


def decide(person: Person, card: str, verdict: str, reason: str = "", seen: str = "") -> Any:
    shown = person.page(f"/cards/{card}").text
    digest = seen or re.findall(r'name="hash" value="([0-9a-f]{64})"', shown)[0]
    return person.send(f"/cards/{card}/decide", f"/cards/{card}", verdict=verdict, reason=reason, hash=digest)


def test_a_card_is_decided_on_its_page_and_all_learn_of_it(stack: Stack, owner: Person, there: Counterpart) -> None:
    card = card_of(ask(stack, quoted=EVIL))
    until(lambda: owner.page(f"/cards/{card}").status_code == 200, 10, "the card reached the console")
    page = owner.page(f"/cards/{card}").text
    assert (
        there.key in page
        and "evil.test" in page.split("own words")[1]
        and "evil.test" not in page.split("own words")[0]
    )
    assert "<script>alert" not in page and "\u202e" not in page
    assert f"/cards/{card}" in owner.page("/notices").text and f"/cards/{card}" in owner.page("/cards").text
    assert "/asked" not in there.paths(), "nothing left meanwhile"
    assert decide(owner, card, "allow", seen="0" * 64).status_code == 409, "not what was shown"
    assert decide(owner, card, "allow").status_code == 303
    until(lambda: ask(stack) is None, 5, "the agent gets through")
    assert decide(owner, card, "revoke").status_code == 422, "taking back takes a reason"
    until(lambda: stack.value("agent", f"SELECT state FROM app.cards WHERE card_id = '{card}'") == "allowed", 10, "the agent was told")  # fmt: skip
    assert NAME in owner.page(f"/connectors/{NAME}").text and f"/cards/{card}" in owner.page(f"/connectors/{NAME}").text
    assert decide(owner, card, "revoke", "enough").status_code == 303
    until(lambda: ask(stack) is not None, 2, "the agent does not get through")
    assert "It was taken back" in owner.page(f"/cards/{card}").text


def test_what_was_refused_stays_refused_and_nobody_decides_twice(
    stack: Stack, owner: Person, there: Counterpart
) -> None:
    card = card_of(ask(stack, "post"))
    until(lambda: owner.page(f"/cards/{card}").status_code == 200, 10, "the card reached the console")
    assert decide(owner, card, "refuse").status_code == 422, "refusing takes a reason"
    digest = re.findall(r'name="hash" value="([0-9a-f]{64})"', owner.page(f"/cards/{card}").text)[0]
    assert decide(owner, card, "refuse", "not this").status_code == 303
    refused = ask(stack, "post")
    assert refused is not None and refused.code == "card_refused"
    second = owner.send(f"/cards/{card}/decide", f"/cards/{card}", verdict="allow", reason="", hash=digest)
    assert second.status_code == 409 and "refused already" in second.text
    stack.ask("console", "cards.decide", card=card, verdict="revoke", reason="again")
    card_of(ask(stack, "post"))


def test_only_owners_and_admins_decide(stack: Stack, owner: Person, moderator: Person, there: Counterpart) -> None:
    assert owner.add("admin").page("/cards").status_code == 200
    for path in ("/cards", "/connectors", "/connectors/new", f"/connectors/{NAME}"):
        assert moderator.page(path).status_code == 403, path
    for path in (f"/cards/{fresh_id()}/decide", "/connectors", f"/connectors/{NAME}/switch"):
        assert moderator.send(path, "/me", verdict="allow", reason="x").status_code == 403, path
    assert owner.page(f"/cards/{fresh_id()}").status_code == 404
    assert owner.page("/cards/nothing").status_code == 404


def test_a_connector_is_declared_by_a_form_and_switched_with_a_reason(
    stack: Stack, owner: Person, there: Counterpart
) -> None:
    name = f"formed-{fresh_id().hex[:6]}"
    form: dict[str, Any] = {
        "version": "0",
        "name": name,
        "kind": "http",
        "methods": "GET",
        "paths": "/**",
        "auth": "",
        "hosts": "",
    }
    form |= {"per_minute": "60", "more": '{"addresses": ["127.0.0.1"]}', "enabled": "yes", "reason": "for the test"}
    wrong = owner.send("/connectors", "/connectors/new", base="ftp://nowhere", **form)
    assert wrong.status_code == 422 and "base" in wrong.text and "ftp://nowhere" in wrong.text, "what was typed stays"
    for field, value in (("more", "{"), ("per_minute", "many"), ("reason", ""), ("name", "Not So")):
        assert (
            owner.send("/connectors", "/connectors/new", base=there.url, **(form | {field: value})).status_code == 422
        )
    assert owner.send("/connectors", "/connectors/new", base=there.url, **form).status_code == 303
    shown = owner.page("/connectors").text
    assert name in shown and "for the test" in shown and f"/connectors/{name}" in owner.page("/switches").text
    again = owner.send("/connectors", "/connectors/new", base=there.url, **form)
    assert again.status_code == 409 and "somebody else" in again.text
    switch = f"/connectors/{name}/switch"
    assert owner.send(switch, "/connectors/new", to="off", version="1", reason="").status_code == 422
    assert owner.send(switch, "/connectors/new", to="off", version="1", reason="quiet").status_code == 303
    off = asking(stack, lambda asker: refused_by(asker, name))
    assert off.code == "connector_off"
    found = next(each for each in stack.ask("console", "connectors.list")["connectors"] if each["name"] == name)
    assert (found["enabled"], found["reason"], found["by"]) == (False, "quiet", "Ada Owner")
    assert (found["version"], found["hosts"]) == (2, [there.key])


async def refused_by(asker: Any, name: str) -> SchleuseError:
    with pytest.raises(SchleuseError) as caught:
        await asker.call(name, "get", {"path": "/"})
    return caught.value
