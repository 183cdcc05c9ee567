"""A form sent while the database is away is offered again, with everything that was typed; nothing happens twice."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest

from tests.factories.documents import Item, submit
from tests.factories.people import Person
from tests.factories.reviews import look
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]
KEPT = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')


@contextmanager
def no_database(stack: Stack) -> Iterator[None]:
    """Postgres is killed, and nobody starts it again until the block ends."""
    old = stack.pids()["postgres"]
    status = Path(f"/proc/{old}/status").read_text()
    supervisor = int(re.findall(r"PPid:\s+(\d+)", status)[0])
    os.kill(supervisor, signal.SIGSTOP)
    try:
        os.kill(old, signal.SIGKILL)
        until(lambda: is_gone(old), 10)
        yield
    finally:
        os.kill(supervisor, signal.SIGCONT)
    stack.back("postgres", old)


def is_gone(pid: int) -> bool:
    """Ended; its parent, which is stopped, has not collected it yet."""
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def send_again(person: Person, where: str, page: str) -> httpx2.Response:
    """Press the one button of the page that offers it."""
    fields = {name: unescape(value) for name, value in KEPT.findall(page)}
    return person.http.post(where, data=fields, headers={"Origin": person.base})


def test_a_form_sent_while_the_database_is_away_is_offered_again(
    stack: Stack, moderator: Person, visitor: Visitor
) -> None:
    item = submit(stack, f"# away {uuid4().hex[:8]}\n\nwords\n")
    seen = look(moderator, item)
    path, text = f"away-{uuid4().hex[:8]}", 'First line\n\n> "quoted" & <b>bold</b>\n\numlauts: äöü\n'
    draft = {"kind": "page", "lang": "en", "path": path, "markdown": f"# Kept\n\n{text}", "token": seen.fields["token"]}
    token = moderator.api_token("moderator")
    with no_database(stack):
        decided = seen.decide("approve", "it's fine")
        sent = moderator.http.post("/submit", data=draft, headers={"Origin": moderator.base})
        for answer in (decided, sent):
            assert (answer.status_code, "Send it again" in answer.text) == (503, True), answer.text[:2000]
            assert "What you typed is kept" in answer.text
            assert answer.headers["Cache-Control"] == "private, no-store"
        assert moderator.page("/queue").status_code == 503
        api = moderator.http.get("/api/v1/items", headers={"Authorization": f"Bearer {token}"})
        assert (api.status_code, api.json()["code"]) == (503, "away"), api.text
    assert send_again(moderator, f"/queue/{item.item_id}/decide", decided.text).status_code == 303
    until(lambda: visitor.sees(item), 10)
    reasons = stack.rows("bridge", f"SELECT reason FROM core.decisions WHERE item_id = '{item.item_id}'")
    assert reasons == [{"reason": "it's fine"}], "once, with what was typed"
    assert send_again(moderator, "/submit", sent.text).status_code == 303
    [row] = until(lambda: [row for row in stack.items() if row["path"] == path], 10)
    shown = moderator.page(f"/queue/{Item(row['item_id'], 'page', 'en', path).item_id}").text
    assert "&#34;quoted&#34; &amp; &lt;b&gt;bold&lt;/b&gt;" in shown and "umlauts: äöü" in shown


def test_a_password_is_never_put_into_a_page(stack: Stack, moderator: Person) -> None:
    token = moderator.token_on("/me")
    fields = {
        "token": token,
        "handle": moderator.handle,
        "password": "correct-Schleuse-7-gate",
        "again": "second-Secret-8",
    }
    with no_database(stack):
        for where in ("/sign-in", "/set-password/x"):
            answer = moderator.http.post(where, data=fields, headers={"Origin": moderator.base})
            assert "correct-Schleuse" not in answer.text and "second-Secret" not in answer.text
