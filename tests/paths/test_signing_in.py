"""Who gets in: the one-time link, passwords, lockout, tokens, sessions. All over plain HTTP forms."""

import re
from uuid import uuid4

import httpx2
import pytest

from shared.operator import call
from tests.factories.people import PASSWORD, Person, become_owner
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


def test_the_owners_link_works_once(stack: Stack, owner: Person) -> None:
    assert owner.is_in()
    if stack.owner_link:
        path = stack.owner_link.removeprefix(owner.base)
        assert Person(owner.base).page(path).status_code in (404, 410, 422)
    assert call(stack.state, "console", "owner.link", {}).get("url") is None


def test_the_one_time_link_is_in_no_log(stack: Stack, owner: Person) -> None:
    if not stack.owner_link:
        pytest.skip("the installation was not fresh")
    token = stack.owner_link.rsplit("/", 1)[-1]
    assert not any(token in path.read_text(errors="replace") for path in stack.layout.logs.glob("*.log*"))


def test_without_a_session_every_page_asks_to_sign_in(stack: Stack, owner: Person) -> None:
    stranger = Person(stack.urls["console"])
    for path in ("/queue", "/switches", "/audit", "/people", "/me", "/submit", "/parked", "/analytics", "/live"):
        answer = stranger.page(path)
        assert answer.status_code == 303, path
        assert answer.headers["location"].startswith("/sign-in"), path


def test_passwords_that_are_easy_to_guess_are_refused(owner: Person) -> None:
    handle, link = f"weak-{uuid4().hex[:6]}", owner.invite("viewer")
    person, said = Person(owner.base, handle), {"name": "Weak", "handle": handle}
    for weak in ("short", "password123", "schleuse12", handle + handle):
        assert person.send(link, link, **said, password=weak, again=weak).status_code == 422, weak
    assert person.send(link, link, **said, password=PASSWORD, again=PASSWORD + "x").status_code in (403, 422)
    assert person.send(link, link, **said, password=PASSWORD, again=PASSWORD).status_code == 303
    assert person.page(link).status_code in (404, 410, 422), "the link works once"


def test_failed_tries_shut_the_account_for_the_right_password_too(owner: Person) -> None:
    person = owner.add("viewer")
    other = Person(owner.base, person.handle)
    answers = [other.sign_in(f"wrong-{n}").status_code for n in range(6)]
    assert answers[0] == 401
    assert answers[-1] == 429
    assert other.sign_in(PASSWORD).status_code == 429
    assert person.is_in(), "a session that is open stays open"
    assert owner.add("viewer").is_in(), "other accounts are not touched"


def test_an_unknown_name_answers_like_a_wrong_password(owner: Person) -> None:
    known, unknown = owner.add("viewer"), Person(owner.base, f"nobody-{uuid4().hex[:6]}")
    wrong = Person(owner.base, known.handle).sign_in("not-the-password")
    nobody = unknown.sign_in("not-the-password")
    assert wrong.status_code == nobody.status_code == 401


def test_signing_out_ends_the_session_and_its_open_stream(owner: Person) -> None:
    person = owner.add("viewer")
    with person.http.stream("GET", "/live") as stream:
        assert stream.status_code == 200
        lines = stream.iter_lines()
        next(lines)
        leaving = Person(person.base)
        leaving.http.cookies.update(person.http.cookies)
        assert leaving.send("/sign-out", "/me").status_code == 303
        for _ in lines:
            continue
    assert person.page("/queue").status_code == 303


def test_losing_the_role_ends_the_open_stream(owner: Person) -> None:
    person = owner.add("moderator")
    people = owner.page("/people").text
    place = people.index(person.handle)
    ids = re.findall(r"/people/([0-9a-f-]{36})/role", people)
    nearest = min(ids, key=lambda each: abs(people.index(f"/people/{each}/role") - place))
    with person.http.stream("GET", "/live") as stream:
        lines = stream.iter_lines()
        next(lines)
        assert owner.send(f"/people/{nearest}/role", "/people", role="viewer").status_code == 303
        for _ in lines:
            continue
    if person.page("/queue").status_code == 303:
        person.sign_in()
    nowhere = "/queue/00000000-0000-5000-8000-000000000000/decide"
    assert person.send(nowhere, "/me", verdict="approve").status_code == 403


def test_an_expired_session_in_the_middle_of_a_form_keeps_the_text(stack: Stack, owner: Person) -> None:
    person = owner.add("member")
    text = f"# Long work {uuid4().hex[:8]}\n\nEverything that was typed & <kept>.\n"
    path = f"expired-{uuid4().hex[:8]}"
    fields = {"token": person.token_on("/submit"), "kind": "page", "lang": "en", "path": path, "markdown": text}
    person.http.cookies.delete("console")
    asked = person.http.post("/submit", data=fields, headers={"Origin": person.base})
    assert asked.status_code == 401
    assert "Long work" in asked.text and "&lt;kept&gt;" in asked.text
    carried = hidden(asked)
    signed_in = person.http.post(
        "/sign-in", data=carried | {"handle": person.handle, "password": PASSWORD}, headers={"Origin": person.base}
    )
    assert signed_in.status_code == 200
    again = hidden(signed_in)
    done = person.http.post("/submit", data=again, headers={"Origin": person.base})
    assert done.status_code == 303, done.text[-1500:]
    rows = until(lambda: [row for row in stack.items() if row["path"] == path], 10)
    assert len(rows) == 1


def hidden(page: httpx2.Response) -> dict[str, str]:
    """The hidden fields and text areas of the page's main form."""
    from bs4 import BeautifulSoup  # noqa: PLC0415 - only this test reads forms whole

    soup = BeautifulSoup(page.text, "html.parser")
    form = next(
        each
        for each in soup.find_all("form")
        if any("markdown" in str(field.get("name")) for field in each.find_all(True))
    )
    inputs = {str(each["name"]): str(each.get("value", "")) for each in form.find_all("input") if each.get("name")}
    return inputs | {str(each["name"]): each.text.removeprefix("\n") for each in form.find_all("textarea")}


def test_an_api_token_does_what_its_role_allows_and_no_more(stack: Stack, owner: Person) -> None:
    key = owner.api_token("member")
    with httpx2.Client(base_url=owner.base, headers={"Authorization": f"Bearer {key}"}, timeout=30) as api:
        spec = api.get("/api/v1/openapi.json")
        assert spec.status_code == 200
        paths = spec.json()["paths"]
        assert any("post" in operations for operations in paths.values())
        listed = api.get("/api/v1/items")
        assert listed.status_code == 200, listed.text[:500]
        assert httpx2.get(f"{owner.base}/api/v1/items").status_code == 401
        assert api.get("/api/v1/items", headers={"Authorization": "Bearer wrong"}).status_code == 401
    hashes = stack.rows("console", "SELECT token_hash FROM app.api_tokens")
    assert hashes and not any(key in row["token_hash"] for row in hashes), "stored hashed"


def test_the_site_and_the_workspace_set_no_cookie_and_know_no_session(stack: Stack, owner: Person) -> None:
    for name in ("site", "workspace"):
        answer = owner.http.get(stack.urls[name])
        assert "set-cookie" not in answer.headers
    assert stack.urls["console"].split("://")[1].split(":")[0] != stack.urls["site"].split("://")[1].split(":")[0]


def test_becoming_owner_again_is_not_possible(stack: Stack, owner: Person) -> None:
    assert become_owner(Stack(stack.state, stack.urls, None)).is_in()
    assert Person(owner.base).page("/welcome/" + "a" * 43).status_code in (404, 410, 422)
