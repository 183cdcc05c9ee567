"""The pages about the system: for owner and admin, fresh, and refused with words to everybody else."""

import pytest

from infra.postgres.settings import CONNECTION_LIMIT
from tests.factories.people import Person
from tests.factories.stack import SERVICES, Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
PAGES = ("/system", "/system/figures.json", "/system/grants")


@pytest.mark.parametrize("role", ["moderator", "member", "viewer"])
def test_who_may_not_look_is_told_so(owner: Person, role: str) -> None:
    person = owner.add(role)
    for path in PAGES:
        answer = person.page(path)
        assert answer.status_code == 403
        assert f"A {role} may not look into the system" in answer.text
        assert "no-store" in answer.headers["cache-control"]
    assert person.send("/system/grants", "/me").status_code == 403
    assert 'href="/system"' not in person.page("/queue").text


def test_an_admin_sees_how_every_part_is_doing(stack: Stack, owner: Person) -> None:
    admin = owner.add("admin")
    until(lambda: admin.page("/system/figures.json").json()["parts"], 30, "the first figures are written")
    page = admin.page("/system").text
    for service in SERVICES:
        assert f'data-cell="part.{service}.lag"' in page
    until(lambda: not admin.page("/system/figures.json").json()["stale"], 20, "figures are fresh")
    state = "part.site.state"
    until(lambda: admin.page("/system/figures.json").json()["cells"][state]["text"] == "ready", 20, "the site is ready")
    told = admin.page("/system/figures.json").json()
    assert told["cells"]["store.connections"]["text"].endswith("of 130")
    assert 'href="/system"' in admin.page("/queue").text


def test_the_inventory_is_shown_searched_and_asked_for_anew(stack: Stack, owner: Person) -> None:
    until((stack.layout.run / "report" / "grants.json").exists, 60, "the first inventory is written")
    found = owner.page("/system/grants", q="policies_shut_to_site", surface="bridge").text
    assert "core.policies: constraint policies_shut_to_site" in found and "1 found" in found
    assert 400 <= owner.page("/system/grants", state="nonsense").status_code < 500
    assert owner.send("/system/grants", "/system/grants").status_code == 303
    assert "A new one was asked for" in owner.page("/system/grants").text


def test_top_and_the_page_say_the_same(stack: Stack, owner: Person) -> None:
    found = stack.cli("top", "--once")
    assert set(found["parts"]) >= {"postgres", "nats", *SERVICES}
    assert all(part["ready"] and part["pid"] for part in found["parts"].values())
    assert found["gate"]["whole"] and found["gate"]["at_site"] is not None
    assert all(found["parts"][name]["postgres"][1] == CONNECTION_LIMIT for name in SERVICES)
    assert all(found["parts"][name]["in"] is not None for name in SERVICES), "two looks make a rate"
