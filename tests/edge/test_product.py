"""The product behind nginx, as people meet it: sign-in, publishing, withdrawing, signals, live news."""

import time
from uuid import uuid4

import httpx2
import pytest

from tests.factories.documents import Item, decide, submit, withdraw
from tests.factories.edge import Gate
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until
from tests.paths.test_members import go_on, members_item

pytestmark = pytest.mark.stack
WITHIN = 2.0
"""Seconds (rule 11)."""
Fronted = tuple[Gate, Stack]


def a_public_item(stack: Stack, http: httpx2.Client) -> Item:
    item = submit(stack, f"# Behind nginx {uuid4().hex[:8]}\n\nwords\n")
    decide(stack, item)
    until(lambda: http.get(item.url).status_code == 200, 5, "it is public")
    return item


def test_cookies_are_bound_to_their_host(fronted: Fronted, guest: Person) -> None:
    assert guest.is_in()
    assert all(cookie.name.startswith("__Host-") and cookie.secure for cookie in guest.http.cookies.jar)
    assert {cookie.domain for cookie in guest.http.cookies.jar} == {"console.test"}


def test_a_form_from_another_front_is_refused(fronted: Fronted, guest: Person) -> None:
    gate, _ = fronted
    token = guest.token_on("/me")
    answer = guest.http.post("/sign-out", data={"token": token}, headers={"Origin": gate.urls["site"]})
    assert answer.status_code == 403
    assert guest.is_in()


def test_a_withdrawn_page_is_gone_within_two_seconds_through_the_cache(fronted: Fronted) -> None:
    gate, stack = fronted
    http = gate.client("site")
    item = a_public_item(stack, http)
    tag = http.get(item.url).headers["etag"]
    assert http.get(item.url, headers={"If-None-Match": tag}).status_code == 304
    statuses: list[tuple[float, int]] = []
    withdraw(stack, item)
    began = time.monotonic()
    while (at := time.monotonic() - began) < WITHIN + 0.5:
        statuses.append((at, http.get(item.url, headers={"If-None-Match": tag}).status_code))
    gone = next(at for at, status in statuses if status == 410)
    assert gone < WITHIN
    assert {status for at, status in statuses if at > gone} == {410}, "and stays away"
    assert item.path not in http.get("/feed.xml").text + http.get("/sitemap.xml").text + http.get("/").text


def test_an_address_that_was_empty_shows_its_page_at_once(fronted: Fronted) -> None:
    """404 is not kept."""
    gate, stack = fronted
    http = gate.client("site")
    item = submit(stack, "# Soon\n\nsoon\n")
    assert http.get(item.url).status_code == 404
    decide(stack, item)
    until(lambda: http.get(item.url).status_code == 200, 1.5)


@pytest.mark.long
def test_a_dead_site_is_a_502_and_not_an_old_page(fronted: Fronted) -> None:
    gate, stack = fronted
    http = gate.client("site")
    item = a_public_item(stack, http)
    old = stack.kill("site")
    killed = time.time()
    time.sleep(1.02 - killed % 1)
    found = [http.get(item.url).status_code]
    stack.back("site", old)
    until(lambda: http.get(item.url).status_code == 200, 20, "the site is back")
    assert found[0] in (502, 503, 504), found


def names_of(stack: Stack, item: Item) -> list[str]:
    return [
        row["visitor"]
        for row in stack.rows("site", f"SELECT visitor FROM app.signals WHERE item_id = '{item.item_id}' ORDER BY at")
    ]


def test_a_visitor_is_his_address_whatever_he_claims(fronted: Fronted) -> None:
    gate, stack = fronted
    agent = {"User-Agent": "the same browser"}
    item = a_public_item(stack, gate.client("site"))
    first, second = (gate.client("site", source=f"127.0.0.{n}", headers=agent) for n in (31, 32))
    picture = f"/s/{item.item_id}.gif"
    for claimed in ("", "203.0.113.1", "203.0.113.2, 127.0.0.1", "127.0.0.32"):
        said = {"X-Forwarded-For": claimed, "X-Real-IP": claimed, "Forwarded": f"for={claimed}"} if claimed else {}
        assert first.get(picture, headers=said).status_code == 200
    assert len(set(names_of(stack, item))) == 1, "what he claims changes nothing"
    assert second.get(picture).status_code == 200
    assert len(set(names_of(stack, item))) == 2, "another address is another visitor"


def test_thirty_signals_a_minute_for_one_address_and_not_for_all(fronted: Fronted) -> None:
    gate, stack = fronted
    item = a_public_item(stack, gate.client("site"))
    busy, calm = (gate.client("site", source=f"127.0.0.{n}", headers={"User-Agent": "x"}) for n in (33, 34))
    spoof = [{"X-Forwarded-For": f"198.51.100.{n}"} for n in range(40)]
    found = [busy.get(f"/s/{item.item_id}.gif", headers=each).status_code for each in spoof]
    assert found.count(200) == 30 and found[-1] == 429
    assert calm.get(f"/s/{item.item_id}.gif").status_code == 200


def shut_subjects(stack: Stack) -> set[str]:
    return {row["subject"] for row in stack.rows("console", "SELECT subject FROM app.sign_in_failures")}


def test_wrong_passwords_shut_the_address_that_they_come_from(fronted: Fronted, guest: Person) -> None:
    gate, stack = fronted
    before = shut_subjects(stack)
    wrong = Person(gate.urls["console"], f"nobody-{uuid4().hex[:6]}@example.org")
    wrong.http.close()
    wrong.http = gate.client("console", source="127.0.0.35", headers={"X-Forwarded-For": "203.0.113.77"})
    wrong.sign_in("not the password at all")
    assert shut_subjects(stack) - before == {f"account:{wrong.handle}", "address:127.0.0.35"}


def test_live_news_comes_through_at_once(fronted: Fronted, guest: Person) -> None:
    _, stack = fronted
    with guest.http.stream("GET", "/live") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in answer.headers
        lines = answer.iter_lines()
        assert next(lines) == "retry: 1000"
        item = submit(stack, f"# news {uuid4().hex}\n\nnews\n")
        began = time.monotonic()
        heard = next(line for line in lines if line.startswith("data:") and item.item_id in line)
        assert heard and time.monotonic() - began < 1.0


def test_private_pages_pass_uncached(fronted: Fronted, guest: Person) -> None:
    gate, _ = fronted
    for page in ("/queue", "/me"):
        answer = guest.http.get(page)
        assert answer.headers["cache-control"] == "private, no-store"
        assert "x-cache" not in answer.headers
    lists = gate.client("site").get("/search?q=nginx")
    assert "private" in lists.headers["cache-control"] and lists.headers.get("x-cache", "MISS") != "HIT"


def test_members_pages_come_from_nobodys_cache(fronted: Fronted, guest: Person) -> None:
    """Signing in at the site by way of the console, through nginx at every step."""
    gate, stack = fronted
    item = members_item(stack)
    stranger, member = gate.client("site"), gate.client("site")
    assert stranger.get(item.url).status_code in (303, 404)
    assert go_on(guest, member, item.url).status_code == 303
    until(lambda: member.get(item.url).status_code == 200, 5, "the member reads it")
    seen = [member.get(item.url) for _ in range(3)]
    assert {each.headers["cache-control"] for each in seen} == {"private, no-store"}
    assert "HIT" not in {each.headers.get("x-cache") for each in seen}
    assert stranger.get(item.url).status_code in (303, 404), "nor does it get into it"
    assert all(cookie.name.startswith("__Host-site") and cookie.secure for cookie in member.cookies.jar)


def test_nothing_secret_was_written_down(fronted: Fronted, guest: Person) -> None:
    gate, stack = fronted
    assert stack.owner_link is not None
    secret = stack.owner_link.rsplit("/", 1)[1]
    guest.page(f"/welcome/{secret}")
    until(lambda: "/welcome/..." in gate.written(), 5, "it is written down")
    written = gate.written()
    assert secret not in written
    assert not [cookie.name for cookie in guest.http.cookies.jar if cookie.value and cookie.value in written]
