"""People through the running system: what the console says about them reaches the other surfaces, and ends what is open."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from shared.errors import NotFound, Refused
from tests.factories.people import PASSWORD, Person
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack

LINKS = re.compile(r"/(?:invitation|set-password|invited)/([\w-]{43})")


def standing(stack: Stack, service: str, audience: str, handle: str) -> dict[str, object] | None:
    """What a surface holds about a person; None when it was told nothing yet."""
    subject = stack.value("console", f"SELECT subject FROM app.standings s JOIN app.people p ON p.id = s.person_id WHERE audience = '{audience}' AND handle = '{handle}'")  # fmt: skip
    rows = stack.rows(service, f"SELECT role, version, sessions_from FROM app.standings WHERE subject = '{subject}'")
    return rows[0] if rows else None


@contextmanager
def streaming(person: Person) -> Iterator[Iterator[str]]:
    with person.http.stream("GET", "/live") as stream:
        assert stream.status_code == 200
        lines = stream.iter_lines()
        next(lines)
        yield lines


def seconds_until_over(lines: Iterator[str]) -> float:
    begun = time.monotonic()
    for _ in lines:
        continue
    return time.monotonic() - begun


def test_who_joins_is_known_at_both_surfaces_and_a_new_role_too(stack: Stack, owner: Person) -> None:
    person = owner.add("member")
    for service, audience in (("agent", "agent"), ("site", "site")):
        found = until(lambda s=service, a=audience: standing(stack, s, a, person.handle), 10, f"{service} knows her")  # type: ignore[misc]
        assert (found["role"], found["version"]) == ("member", 1)
    with streaming(person) as lines:
        assert stack.ask("console", "people.change", handle=person.handle, role="viewer") == {"changed": True}
        assert seconds_until_over(lines) < 1
    for service, audience in (("agent", "agent"), ("site", "site")):
        until(lambda s=service, a=audience: (standing(stack, s, a, person.handle) or {}).get("role") == "viewer", 10)  # type: ignore[misc]
    assert person.page("/queue").status_code == 303
    assert person.sign_in().status_code == 303
    assert "viewer" in person.page("/me").text


def test_a_person_who_is_shut_out_is_out_everywhere_at_once(stack: Stack, owner: Person) -> None:
    person = owner.add("moderator")
    key = person.api_token("member")
    with streaming(person) as lines:
        stack.ask("console", "people.change", handle=person.handle, disabled=True)
        assert seconds_until_over(lines) < 1
    assert person.page("/identity", audience="site", nonce="0" * 64).status_code == 303
    assert person.sign_in().status_code == 401
    answer = httpx2.get(f"{person.base}/api/v1/items", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 401
    with pytest.raises(Refused, match="shut out"):
        stack.ask("console", "people.reset", handle=person.handle)
    until(lambda: (standing(stack, "site", "site", person.handle) or {"role": ""})["role"] is None, 10)
    stack.ask("console", "people.change", handle=person.handle, disabled=False)
    assert person.sign_in().status_code == 303


def test_the_list_of_sign_ins_ends_another_browser_and_its_stream(owner: Person) -> None:
    here = owner.add("member")
    there = Person(here.base, here.handle)
    there.http.headers["User-Agent"] = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/18.0 Safari/605.1.15"
    assert there.sign_in().status_code == 303
    page = here.page("/me").text
    assert "Safari on macOS" in page
    place = re.findall(r'Safari on macOS.*?action="(/me/sessions/[0-9a-f]+/end)"', page, re.S)[0]
    with streaming(there) as lines:
        assert here.send(place, "/me").status_code == 303
        assert seconds_until_over(lines) < 1
    assert not there.is_in() and here.is_in()
    assert here.send(place, "/me").status_code == 404
    stranger = owner.add("member")
    assert stranger.send(place, "/me").status_code == 404


def test_a_new_password_ends_every_sign_in(stack: Stack, owner: Person) -> None:
    person, new = owner.add("viewer"), PASSWORD + "-2"
    other = Person(person.base, person.handle)
    assert other.sign_in().status_code == 303
    wrong = person.send("/me/password", "/me/password", old="not it", password=new, again=new)
    assert wrong.status_code == 403 and other.is_in()
    assert person.send("/me/password", "/me/password", old=PASSWORD, password=new, again=new).status_code == 303
    assert person.is_in() and not other.is_in()
    link = stack.ask("console", "people.reset", handle=person.handle)["url"].removeprefix(person.base)
    assert other.send(link, link, password=PASSWORD, again=PASSWORD).status_code == 303
    assert not person.is_in()
    assert other.page(link).status_code == 404
    assert (other.sign_in(new).status_code, other.sign_in(PASSWORD).status_code) == (401, 303)


def test_the_operator_invites_and_the_last_owner_stays(stack: Stack, owner: Person) -> None:
    made = stack.ask("console", "people.invite", role="moderator", name="Kim")
    path = made["url"].removeprefix(owner.base)
    person = Person(owner.base, f"kim-{path[-8:].lower()}")
    assert "Kim" in person.page(path).text
    joined = person.send(path, path, name="Kim", handle=person.handle, password=PASSWORD, again=PASSWORD)
    assert joined.status_code == 303 and person.is_in()
    listed = {each["handle"]: each for each in stack.ask("console", "people.list")["people"]}
    assert (listed[person.handle]["role"], listed[person.handle]["sign_ins"]) == ("moderator", 1)
    if sum(each["role"] == "owner" and not each["disabled"] for each in listed.values()) == 1:
        with pytest.raises(Refused, match="last owner"):
            stack.ask("console", "people.change", handle=owner.handle, role="admin")
    assert stack.run("people", "disable", "nobody-is-called-so").returncode == 2


def test_a_guest_of_the_site_is_invited_and_revoked(stack: Stack, owner: Person) -> None:
    token = stack.ask("console", "guests.invite", label="Press office", days=3)["url"].rsplit("/", 1)[-1]
    [newest] = [each for each in stack.ask("console", "guests.list")["guests"] if each["label"] == "Press office"][:1]
    held = f"SELECT role, until FROM app.standings WHERE subject = '{newest['guest']}'"
    until(lambda: [row["role"] for row in stack.rows("site", held)] == ["guest"], 10, "the site knows the guest")
    assert owner.send(f"/guests/{newest['guest']}/revoke", "/guests").status_code == 303
    until(lambda: [row["role"] for row in stack.rows("site", held)] == [None], 10, "and that it is over")
    with pytest.raises(NotFound):
        stack.ask("console", "guests.revoke", guest=newest["guest"])
    stored = stack.rows("site", "SELECT * FROM app.standings") + stack.rows("console", "SELECT * FROM app.guests")
    assert token not in str(stored)


def test_links_of_people_are_in_no_log(stack: Stack, owner: Person) -> None:
    invitation = owner.invite("viewer")
    guest = owner.send("/guests", "/guests", label="Log reader", days="1").text
    tokens = LINKS.findall(invitation) + LINKS.findall(guest)
    for path in (invitation, "/identity?audience=site&nonce=" + "5" * 64):
        shown = owner.page(path)
        tokens += re.findall(r'value="(eyJ[^"]+)"', shown.text)
    Person(owner.base).page(invitation + "x")
    httpx2.get(f"{stack.urls['site']}/invited/{tokens[1]}")
    assert len(tokens) == 3
    logs = "".join(path.read_text(errors="replace") for path in stack.layout.logs.glob("*.log*"))
    assert not any(token in logs for token in tokens)
