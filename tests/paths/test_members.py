"""One sign-in at the console opens site and workspace, and its end closes them (S8); what is for members stays theirs (rule 27)."""

import re
import time
from collections.abc import Iterator
from uuid import uuid4

import httpx2
import pytest

from tests.factories.documents import Item, decide
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until
from tests.paths.test_deciding import switch

pytestmark = pytest.mark.stack
FIELD = re.compile(r'name="(token|next)" value="([^"]*)"')


def go_on(person: Person, receiver: httpx2.Client, place: str = "/") -> httpx2.Response:
    """From a receiver through the console and back, as a browser goes without JavaScript; the last answer."""
    asked = receiver.get("/sign-in", params={"next": place})
    assert asked.status_code == 303
    form = person.http.get(asked.headers["location"])
    assert form.status_code == 200, form.text[:500]
    action = re.search(r'action="([^"]+)/signed-in"', form.text)
    assert action and action[1] == str(receiver.base_url).rstrip("/")
    handed = form.text[action.start() :]
    fields = dict(FIELD.findall(handed))
    sent = receiver.post("/signed-in", data=fields, headers={"Origin": person.base, "Sec-Fetch-Site": "cross-site"})
    return receiver.get(sent.headers["location"]) if sent.status_code == 303 else sent


def members_item(stack: Stack) -> Item:
    path = f"t-{uuid4().hex[:10]}"
    one = {"kind": "page", "lang": "en", "path": path, "text": f"# Kept {path}\n\nFor us.\n", "audience": "members"}
    [found] = stack.ask("console", "items.submit", items=[one])["items"]
    item = Item(found["item_id"], "page", "en", path)
    decide(stack, item)
    return item


@pytest.fixture
def site(stack: Stack) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=stack.urls["site"], timeout=30) as found:
        yield found


@pytest.fixture
def workspace(stack: Stack) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=stack.urls["workspace"], timeout=30) as found:
        yield found


def test_signing_in_at_the_console_opens_both_and_signing_out_closes_both(
    stack: Stack, owner: Person, site: httpx2.Client, workspace: httpx2.Client
) -> None:
    person, item = owner.add("member"), members_item(stack)
    assert site.get(item.url).status_code == 404
    assert go_on(person, site, item.url).headers["location"] == item.url
    until(lambda: site.get(item.url).status_code == 200, 10, "the member sees the page")
    assert site.get(item.url).headers["cache-control"] == "private, no-store"
    assert httpx2.get(stack.urls["site"] + item.url).status_code == 404
    go_on(person, workspace)
    assert "· member" in workspace.get("/").text
    with workspace.stream("GET", "/live") as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("retry")
        person.send("/sign-out", "/me")
        began = time.monotonic()
        assert "event: end" in list(lines)
    assert time.monotonic() - began < 1
    until(lambda: site.get(item.url).status_code == 404, 1, "the site has forgotten the session", 0.02)
    assert "You are a guest" in workspace.get("/").text


def test_another_role_and_shutting_out_reach_the_workspace(
    stack: Stack, owner: Person, workspace: httpx2.Client
) -> None:
    person = owner.add("viewer")
    person_id = stack.value("console", f"SELECT id FROM app.people WHERE handle = '{person.handle}'")
    go_on(person, workspace)
    assert "· viewer" in workspace.get("/").text
    changed = owner.send(f"/people/{person_id}/role", "/people", role="moderator")
    assert changed.status_code in (200, 303), changed.text[-800:]
    until(lambda: "· viewer" not in workspace.get("/").text, 2, "the old role counts no more", 0.02)
    person.sign_in()
    go_on(person, workspace)
    assert "· moderator" in workspace.get("/").text


def test_a_token_for_the_site_opens_nothing_at_the_workspace(
    owner: Person, site: httpx2.Client, workspace: httpx2.Client
) -> None:
    asked = site.get("/sign-in")
    workspace.get("/sign-in")
    form = owner.http.get(asked.headers["location"]).text
    fields = dict(FIELD.findall(form[form.index("/signed-in") :]))
    for receiver, status in ((workspace, 403), (site, 303), (site, 303)):
        sent = receiver.post("/signed-in", data=fields, headers={"Origin": owner.base})
        assert sent.status_code == status
    first = site.post("/signed-in", data=fields, headers={"Origin": owner.base}).headers["location"]
    assert (site.get(first).status_code, site.get(sent.headers["location"]).status_code) == (303, 403)


def test_a_guest_reads_until_the_invitation_is_taken_back(stack: Stack, owner: Person, site: httpx2.Client) -> None:
    item = members_item(stack)
    link = stack.ask("console", "guests.invite", label="A friend", days=1)["url"].removeprefix(stack.urls["site"])
    [newest] = [each for each in stack.ask("console", "guests.list")["guests"] if each["label"] == "A friend"][:1]
    held = f"SELECT count(*) FROM app.standings WHERE subject = '{newest['guest']}'"
    until(lambda: stack.value("site", held) == 1, 10, "the site knows the guest")
    assert site.get(link).status_code == 200
    came = site.post(link, headers={"Origin": stack.urls["site"]})
    assert (came.status_code, came.headers["location"]) == (303, "/")
    until(lambda: site.get(item.url).status_code == 200, 10, "the guest sees what members see")
    with httpx2.Client(base_url=stack.urls["site"]) as other:
        assert other.post(link, headers={"Origin": stack.urls["site"]}).status_code == 403
    stack.ask("console", "guests.revoke", guest=newest["guest"])
    until(lambda: site.get(item.url).status_code == 404, 1, "the guest is outside again", 0.02)


def test_in_mode_members_only_members_read(stack: Stack, owner: Person, site: httpx2.Client) -> None:
    item = members_item(stack)
    go_on(owner, site)
    until(lambda: site.get(item.url).status_code == 200, 10, "the page is there")
    switch(stack, owner, "site_mode", "members")
    try:
        until(lambda: httpx2.get(stack.urls["site"]).status_code == 403, 5, "strangers are shut out")
        assert "This site is for members" in httpx2.get(stack.urls["site"] + item.url).text
        assert site.get(item.url).status_code == 200
    finally:
        switch(stack, owner, "site_mode", "open")
        until(lambda: httpx2.get(stack.urls["site"]).status_code == 200, 5, "the site is open again")
