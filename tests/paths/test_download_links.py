"""A file as a link, asked for in the chat: given, fetched, given to anybody, taken back, and gone with its person."""

import re

import httpx2
import pytest

from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.talking import Talk

pytestmark = pytest.mark.stack
LINK = re.compile(r"\]\((http[^)]+)\)")


def fetch(url: str, key: str = "", method: str = "GET") -> httpx2.Response:
    return httpx2.request(method, url, headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=60)


def test_a_file_is_given_as_a_link_over_several_turns(stack: Stack, owner: Person) -> None:
    talk = Talk.of(stack, owner.add("member").handle)
    turn = talk.say("write a file called plan (1).md with: all there is")
    chat = turn["conversation_id"]
    said = talk.say("gib mir die Datei als Link", chat)["reply"]
    [own] = LINK.findall(said)
    assert (fetch(own, talk.key).text, fetch(own).status_code) == ("all there is", 404)
    head = fetch(own, talk.key, "HEAD")
    assert (head.status_code, head.headers["content-length"], head.content) == (200, "12", b"")
    [anybodys] = LINK.findall(talk.say("nein, für alle", chat)["reply"])
    answer = fetch(anybodys)
    assert (answer.text, answer.headers["cache-control"]) == ("all there is", "private, no-store")
    assert answer.headers["content-disposition"].startswith("attachment;") and answer.headers["x-content-type-options"] == "nosniff"  # fmt: skip
    listed = talk.say("show my links", chat)["reply"]
    assert "for anybody" in listed and "for you alone" in listed and anybodys not in listed
    talk.say("take it back", chat)
    assert (fetch(own, talk.key).status_code, fetch(anybodys).status_code) == (404, 404)
    assert "offer_download: link to plan (1).md" in talk.say("what have you done?", chat)["reply"]


def test_links_go_with_their_person(stack: Stack, owner: Person) -> None:
    person = owner.add("member")
    talk = Talk.of(stack, person.handle)
    talk.say("write a file called a.md with: mine")
    made = httpx2.post(f"{stack.urls['workspace']}/api/v1/downloads", json={"path": "a.md", "by_mail": True}, headers={"Authorization": f"Bearer {talk.key}"}, timeout=60).json()  # fmt: skip
    assert fetch(made["url"]).status_code == 200
    done = stack.run("agent", "forget", "--person", person.handle, "--yes")
    assert done.returncode == 0, done.stderr
    assert fetch(made["url"]).status_code == 404
    places = f"SELECT count(*) FROM app.download_places WHERE download_id = '{made['download_id']}'"
    assert stack.value("agent", places) == 0
