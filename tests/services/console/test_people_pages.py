"""Pages of people over HTTP, in this process: what is shown once, what is refused, and that no link reaches a log or a trace."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import httpx2
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.types import ASGIApp

from services.console.analytics.warehouse import Warehouse
from services.console.apps.keeper import AppKeeper
from services.console.apps.processes import Processes
from services.console.apps.views import Catalogue
from services.console.guests.usecases.invite_guest import invite_guest
from services.console.jobs.keeper import JobKeeper
from services.console.keys.ring import KeyRing
from services.console.keys.usecases.open_ring import open_ring
from services.console.live import Live
from services.console.parts import Console
from services.console.people.domain import GONE, hash_token
from services.console.people.passwords import Passwords
from services.console.people.usecases.find_session import find_session
from services.console.people.usecases.offer_reset import offer_reset
from services.console.people.usecases.sign_in import start_session
from services.console.web import make_web
from shared import telemetry
from shared.health import Health
from shared.inbox.parked import ParkedDesk
from shared.testing.servers import Servers
from tests.services.console.conftest import Desk
from tests.services.console.joining import GOOD, OWNER, invited, joined

TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')
HANDED = re.compile(r'name="token" value="(eyJ[^"]+)"')
NEW = "harbour mitten violet crane"


class Browser:
    """One browser at the console. `send` posts a form that was shown on a page."""

    def __init__(self, app: ASGIApp, base: str) -> None:
        self.base = base
        self.http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url=base)
        self.http.headers["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0"

    async def page(self, path: str, **query: str) -> httpx2.Response:
        return await self.http.get(path, params=query or None)

    async def send(self, where: str, shown_on: str, /, **fields: str) -> httpx2.Response:
        found = TOKEN.search((await self.page(shown_on)).text)
        assert found, shown_on
        return await self.http.post(where, data={"token": found[1], **fields}, headers={"Origin": self.base})

    async def come_in(self, desk: Desk, passwords: Passwords, role: str) -> UUID:
        """Signed in as a new person of that role."""
        caller, token = await joined(desk, passwords, role)
        self.http.cookies.set("console", token)
        return UUID(caller.id)


@pytest.fixture
async def browser(desk: Desk, passwords: Passwords, servers: Servers) -> AsyncIterator[Browser]:
    settings, live = servers.settings("console"), Live()
    ring = KeyRing(settings.keys)
    async with desk.db.transaction() as tx:
        await open_ring(tx, ring)
    console = Console(
        settings=settings, db=desk.db, live=live, ring=ring, identity=desk.issuer, form_key=b"key", passwords=passwords,
        parked=ParkedDesk(desk.db, None, None), health=Health("console"), catalogue=Catalogue(desk.db), warehouse=Warehouse(settings), cleanup=JobKeeper(desk.db, ring, live), apps=AppKeeper(desk.db, Processes(desk.db, settings, Catalogue(desk.db)), Catalogue(desk.db), live),
    )  # fmt: skip
    found = Browser(make_web(console), settings.url)
    yield found
    await found.http.aclose()


async def test_an_invitation_is_looked_at_many_times_and_used_once(desk: Desk, browser: Browser) -> None:
    path = f"/invitation/{await invited(desk, 'member')}"
    for _ in range(3):
        assert (await browser.page(path)).status_code == 200
    said = {"name": "Kim", "handle": f"k-{uuid4().hex[:8]}", "password": GOOD}
    for wrong, status in (({"again": "x"}, 403), ({"password": "short", "again": "short"}, 422), ({"again": GOOD, "name": ""}, 422)):  # fmt: skip
        again = await browser.send(path, path, **{**said, **wrong})
        assert again.status_code == status
        assert said["handle"] in again.text and GOOD not in again.text
    done = await browser.send(path, path, **said, again=GOOD)
    assert done.status_code == 303
    me = await browser.page("/me")
    assert "Firefox on Linux" in me.text and "this one" in me.text
    browser.http.cookies.clear()
    over = [await browser.page(each) for each in (path, "/invitation/" + "a" * 43, "/set-password/x", "/welcome/x")]
    assert {each.status_code for each in over} == {404}
    assert all(GONE in each.text and "Nothing was changed" in each.text for each in over)


async def test_a_form_from_elsewhere_or_for_another_host_changes_nothing(desk: Desk, browser: Browser) -> None:
    path = f"/invitation/{await invited(desk)}"
    found = TOKEN.search((await browser.page(path)).text)
    assert found
    fields = {"token": found[1], "name": "Kim", "handle": f"k-{uuid4().hex[:8]}", "password": GOOD, "again": GOOD}
    for headers, status in (
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": browser.base, "Host": "evil.example"}, 421),
    ):
        assert (await browser.http.post(path, data=fields, headers=headers)).status_code == status
    without = {**fields, "token": "0" * 64}
    assert (await browser.http.post(path, data=without, headers={"Origin": browser.base})).status_code == 403
    assert (await browser.page(path)).status_code == 200, "the invitation is still open"
    assert await desk.rows("SELECT 1 FROM app.people WHERE handle = $1", fields["handle"]) == []


async def test_a_session_cannot_be_fixed_beforehand(desk: Desk, browser: Browser) -> None:
    path = f"/invitation/{await invited(desk)}"
    browser.http.cookies.set("console", "chosen-by-somebody-else")
    done = await browser.send(path, path, name="Kim", handle=f"k-{uuid4().hex[:8]}", password=GOOD, again=GOOD)
    assert done.status_code == 303
    assert "chosen-by-somebody-else" not in done.headers["set-cookie"]
    assert await find_session(desk.db, "chosen-by-somebody-else") is None


async def test_a_browser_that_signs_in_again_leaves_no_session_behind(
    desk: Desk, browser: Browser, passwords: Passwords
) -> None:
    person = await browser.come_in(desk, passwords, "member")
    before = browser.http.cookies["console"]
    [row] = await desk.rows("SELECT handle FROM app.people WHERE id = $1", person)
    browser.http.cookies.delete("console")
    found = TOKEN.search((await browser.page("/sign-in")).text)
    assert found
    browser.http.cookies.set("console", before)
    fields = {"token": found[1], "handle": row["handle"], "password": GOOD}
    done = await browser.http.post("/sign-in", data=fields, headers={"Origin": browser.base})
    assert done.status_code == 303
    assert await find_session(desk.db, before) is None


async def test_the_page_of_people_shows_a_link_once(desk: Desk, browser: Browser, passwords: Passwords) -> None:
    await browser.come_in(desk, passwords, "owner")
    made = await browser.send("/people/invitations", "/people", role="viewer", name="Kim Doe", handle="")
    link = re.search(r"/invitation/([\w-]{43})", made.text)
    assert link and made.headers["cache-control"] == "private, no-store"
    after = (await browser.page("/people")).text
    assert link[1] not in after and "Kim Doe" in after
    [row] = await desk.rows("SELECT id FROM app.invitations WHERE token_hash = $1", hash_token(link[1]))
    assert (await browser.send(f"/people/invitations/{row['id']}/revoke", "/people")).status_code == 303
    assert (await browser.page(link[0])).status_code == 404
    assert (await browser.send("/people/invitations", "/people", role="king", name="", handle="")).status_code == 422


async def test_signing_out_everywhere_says_what_happens_to_api_tokens(
    desk: Desk, browser: Browser, passwords: Passwords
) -> None:
    person = await browser.come_in(desk, passwords, "member")
    assert "API tokens and keys go on; you have none" in (await browser.page("/me")).text
    await browser.send("/me/tokens", "/me", name="import", role="member")
    assert "revoke my 1 API token or key too" in (await browser.page("/me")).text
    async with desk.db.transaction() as tx:
        other = await start_session(tx, person, "Safari on iPhone")
    page = (await browser.page("/me")).text
    ends = re.findall(r'action="(/me/sessions/[0-9a-f]{32}/end)"', page)
    assert len(ends) == 2 and hash_token(other) not in page
    assert (await browser.send(ends[0], "/me")).headers["location"] == "/me", "the newest is the other one"
    assert await find_session(desk.db, other) is None
    gone = await browser.send("/me/sign-out-everywhere", "/me", tokens="yes")
    assert gone.headers["location"] == "/sign-in"
    assert await desk.rows("SELECT 1 FROM app.api_tokens WHERE person_id = $1 AND revoked_at IS NULL", person) == []


async def test_a_password_that_met_an_ended_session_stands_on_no_page(
    desk: Desk, browser: Browser, passwords: Passwords
) -> None:
    await browser.come_in(desk, passwords, "member")
    found = TOKEN.search((await browser.page("/me/password")).text)
    assert found
    browser.http.cookies.delete("console")
    fields = {"token": found[1], "old": GOOD, "password": NEW, "again": NEW}
    asked = await browser.http.post("/me/password", data=fields, headers={"Origin": browser.base})
    assert asked.status_code == 401
    assert GOOD not in asked.text and NEW not in asked.text


async def test_the_way_to_the_site_is_a_form_that_may_go_there_alone(
    desk: Desk, browser: Browser, passwords: Passwords, servers: Servers
) -> None:
    asked = {"audience": "site", "nonce": "0" * 64, "next": "/doc/en/x"}
    away = await browser.page("/identity", **asked)
    assert away.status_code == 303 and away.headers["location"].startswith("/sign-in?next=/identity%3Faudience%3Dsite")
    await browser.come_in(desk, passwords, "viewer")
    shown, site = await browser.page("/identity", **asked), servers.settings("console").urls["site"]
    assert HANDED.search(shown.text) and f'action="{site}/signed-in"' in shown.text
    assert f"form-action {site};" in shown.headers["content-security-policy"]
    assert shown.headers["cache-control"] == "private, no-store"
    assert shown.headers["referrer-policy"] == "strict-origin", "else the browser hides the origin from the site"
    for wrong in ({"audience": "console"}, {"nonce": "0" * 63}, {"next": "//evil.example/"}):
        refused = await browser.page("/identity", **{**asked, **wrong})
        assert refused.status_code == 422 and not HANDED.search(refused.text)
    asking = [(await browser.page("/identity", **asked)).status_code for _ in range(30)]
    assert asking == [200] * 29 + [429]


@asynccontextmanager
async def watched(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[InMemorySpanExporter]:
    """Every span that is made inside."""
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(telemetry, "_TRACER", provider.get_tracer("test"))
    yield spans
    provider.shutdown()


async def test_no_link_and_no_token_reaches_a_log_or_a_trace(
    desk: Desk,
    browser: Browser,
    passwords: Passwords,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with watched(monkeypatch) as spans:
        person = await browser.come_in(desk, passwords, "owner")
        invitation = await invited(desk)
        async with desk.db.transaction() as tx:
            reset = await offer_reset(tx, OWNER, person)
            guest = await invite_guest(tx, desk.issuer, OWNER, "Press", 3)
        handed = HANDED.search((await browser.page("/identity", audience="agent", nonce="1" * 64)).text)
        made = await browser.send("/people/invitations", "/people", role="viewer", name="", handle="")
        shown = re.search(r"/invitation/([\w-]{43})", made.text)
        assert handed and shown
        secrets = {"invitation": invitation, "reset": reset, "guest": guest, "handed": handed[1], "shown": shown[1]}
        secrets["session"] = browser.http.cookies["console"]
        browser.http.cookies.delete("console")
        for path in (f"/invitation/{invitation}", f"/set-password/{reset}"):
            await browser.send(path, path, name="K", handle=f"k-{uuid4().hex[:8]}", password="short", again="short")
            await browser.send(path, path, name="K", handle=f"k-{uuid4().hex[:8]}", password=NEW, again=NEW)
            assert (await browser.page(path)).status_code == 404
        told = "".join(each.to_json() for each in spans.get_finished_spans())
    out, err = capfd.readouterr()
    assert "console POST invite" in told, "spans were made at all"
    for name, secret in {**secrets, "password": NEW}.items():
        assert secret not in told, f"{name} stands in a trace"
        assert secret not in out + err, f"{name} stands in a log"
    rows = await desk.rows("SELECT body FROM app.outbox WHERE name IN ('person.changed', 'session.ended')")
    assert not any(secret.encode() in row["body"] for row in rows for secret in secrets.values())


async def test_marks_that_no_page_of_ours_makes_break_nothing(
    desk: Desk, browser: Browser, passwords: Passwords
) -> None:
    await browser.come_in(desk, passwords, "moderator")
    made = await desk.queue()
    for path, field in (("claim", "tab"), ("release", "tab"), ("undo", "hash")):
        for odd in ("a\x00b", "a" * 65, "ü"):
            answer = await browser.send(f"/queue/{made.item_id}/{path}", "/me", **{field: odd})
            assert answer.status_code == {"claim": 204, "release": 303, "undo": 404}[path]
