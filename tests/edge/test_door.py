"""S7, S8, S12: who is let in, what a service is told about him, what is written down, and how much is taken."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import httpx2
import pytest

from tests.edge.test_cache import Made, a_page
from tests.factories.edge import Gate
from tests.factories.waiting import until

SOURCES = count(20)
"""Last bytes of addresses that nobody has used yet."""
SECRET = "hHWlvHeWbfs-8vEe1sYLVgrIAHrrOCxpoyRZ7_MBnkg"


@contextmanager
def spoken(gate: Gate, name: str | None, protocols: tuple[str, ...] = ("h2", "http/1.1")) -> Iterator[ssl.SSLSocket]:
    trust = ssl.create_default_context(cafile=gate.home / "edge.pem")
    trust.check_hostname = name is not None
    trust.set_alpn_protocols(list(protocols))
    with socket.create_connection(("127.0.0.1", gate.tls_port), 5) as plain, trust.wrap_socket(plain, server_hostname=name) as found:  # fmt: skip
        yield found


def test_http_2_and_new_tls(made_up: Made) -> None:
    with spoken(made_up[0], "site.test") as found:
        assert (found.selected_alpn_protocol(), found.version()) == ("h2", "TLSv1.3")


def test_old_tls_is_refused(made_up: Made) -> None:
    trust = ssl.create_default_context(cafile=made_up[0].home / "edge.pem")
    with pytest.warns(DeprecationWarning):
        trust.maximum_version = ssl.TLSVersion.TLSv1_1
    trust.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with socket.create_connection(("127.0.0.1", made_up[0].tls_port), 5) as plain, pytest.raises(ssl.SSLError):
        trust.wrap_socket(plain, server_hostname="site.test")


@pytest.mark.parametrize("name", ["evil.test", "localhost", None])
def test_a_name_that_is_not_ours_gets_no_handshake(made_up: Made, name: str | None) -> None:
    with pytest.raises(ssl.SSLError), spoken(made_up[0], name):
        pass


@pytest.mark.parametrize("host", ["evil.test", "workspace.test", "console.test", "127.0.0.1"])
def test_another_host_on_our_connection_is_refused(made_up: Made, host: str) -> None:
    gate, server = made_up
    path = a_page(server)
    answer = gate.client("site").get(path, headers={"Host": host})
    assert (answer.status_code, server.count(path)) == (421, 0)


def test_plain_http_leads_to_https_and_knows_no_other_name(made_up: Made) -> None:
    gate, _ = made_up
    where = f"http://127.0.0.1:{gate.http_port}/a?b=c"
    answer = httpx2.get(where, headers={"Host": "site.test"})
    assert (answer.status_code, answer.headers["location"]) == (301, f"{gate.urls['site']}/a?b=c")
    with pytest.raises(httpx2.TransportError):
        httpx2.get(where, headers={"Host": "evil.test"})


def test_hsts_stands_in_every_answer_once(made_up: Made) -> None:
    gate, server = made_up
    server.answers["/static/x.css"] = (200, {"Content-Type": "text/css"})
    for front, path in (("console", "/nothing"), ("site", a_page(server)), ("site", "/static/x.css"), ("site", "/signals/ingest")):  # fmt: skip
        answer = gate.client(front).get(path)
        assert answer.headers.get_list("strict-transport-security") == ["max-age=31536000"], path
        assert answer.headers["server"] == "nginx", "no version"


@pytest.mark.parametrize("front", ["console", "site", "workspace"])
def test_a_service_is_told_the_peers_address_and_nothing_that_the_peer_says(made_up: Made, front: str) -> None:
    gate, server = made_up
    path = a_page(server)
    said = {"X-Forwarded-For": "203.0.113.9", "X-Real-IP": "203.0.113.9", "Forwarded": "for=203.0.113.9", "X-Forwarded-Host": "evil", "X-Forwarded-Proto": "http", "traceparent": "00-1-1-01", "baggage": "a=b"}  # fmt: skip
    gate.client(front, source="127.0.0.7").get(path, headers=said)
    heard = server.headers_of(path)
    assert (heard["x-forwarded-for"], heard["x-real-ip"]) == ("127.0.0.7", "127.0.0.7")
    assert heard["host"] == gate.urls[front].removeprefix("https://")
    assert heard["x-forwarded-proto"] == "https"
    assert not {"forwarded", "x-forwarded-host", "traceparent", "baggage"} & set(heard)


@pytest.mark.parametrize(
    ("front", "path"),
    [
        ("console", f"/welcome/{SECRET}"),
        ("console", f"/set-password/{SECRET}?next=/{SECRET}"),
        ("console", f"/%77elcome/{SECRET}"),
        ("console", f"/invitations/{SECRET}"),
        ("console", f"/what/ever/{SECRET}/more"),
        ("site", f"/invited/{SECRET}"),
        ("site", f"/signed-in?code={SECRET}"),
        ("site", f"/s/{SECRET}"),
        ("site", f"/page/en/x?token={SECRET}"),
        ("workspace", f"/signed-in?code={SECRET}"),
    ],
)
def test_no_token_is_written_down(made_up: Made, front: str, path: str) -> None:
    gate, _ = made_up
    told = {"Referer": f"https://console.test/welcome/{SECRET}", "Cookie": f"session={SECRET}", "Authorization": f"Bearer {SECRET}", "User-Agent": SECRET}  # fmt: skip
    before = len(gate.lines())
    gate.client(front).get(path, headers=told)
    until(lambda: len(gate.lines()) > before, 5, "the request is written down")
    assert SECRET[:16] not in gate.written()


def test_nor_is_it_when_something_goes_wrong(made_up: Made) -> None:
    gate, _ = made_up
    where = f"/set-password/{SECRET}"
    http = gate.client("console", source="127.0.0.11")
    assert http.get(where, headers={"X-Long": "x" * 20_000}).status_code == 400
    assert {http.post(where).status_code for _ in range(30)} == {404, 429}
    assert http.post(where, content=b"x" * (9 * 1024**2)).status_code in (413, 429)
    plain = httpx2.get(f"http://127.0.0.1:{gate.http_port}{where}", headers={"Host": "console.test"})
    assert plain.status_code == 301
    assert SECRET[:16] not in gate.written()


def test_the_sites_visitors_leave_no_address_in_the_log(made_up: Made) -> None:
    gate, server = made_up
    gate.client("site", source="127.0.0.13").get(a_page(server))
    gate.client("console", source="127.0.0.14").get(a_page(server))
    until(lambda: "127.0.0.14" in gate.written(), 5, "the console's log has addresses")
    assert "127.0.0.13" not in gate.written()


@pytest.mark.parametrize(
    ("front", "method", "path", "burst"),
    [
        ("console", "POST", "/sign-in", 20),
        ("console", "POST", "/welcome/x", 20),
        ("console", "GET", "/identity", 60),
        ("workspace", "POST", "/signed-in", 60),
        ("site", "POST", "/signed-in", 60),
        ("site", "GET", "/search", 40),
        ("site", "POST", "/signals/vote", 200),
        ("site", "GET", "/s/x.gif", 200),
    ],
)
def test_what_can_be_tried_often_is_limited_for_one_address(
    made_up: Made, front: str, method: str, path: str, burst: int
) -> None:
    gate, _ = made_up
    one, other = (gate.client(front, source=f"127.0.1.{next(SOURCES)}") for _ in range(2))
    found = [one.request(method, path).status_code for _ in range(burst + 40)]
    assert found[: burst // 2] == [404] * (burst // 2)
    assert 429 in found
    assert other.request(method, path).status_code == 404
    refused = one.request(method, path)
    if refused.status_code == 429:
        assert refused.headers["retry-after"] and refused.headers["cache-control"] == "private, no-store"


def test_pages_of_the_sign_in_can_be_looked_at_as_often_as_one_likes(made_up: Made) -> None:
    http = made_up[0].client("console", source="127.0.0.23")
    assert {http.get("/sign-in").status_code for _ in range(60)} == {404}


@pytest.mark.parametrize(
    ("front", "size", "status"),
    [
        ("site", 63 * 1024, 404),
        ("site", 65 * 1024, 413),
        ("console", 7 * 1024**2, 404),
        ("console", 9 * 1024**2, 413),
        ("workspace", 3 * 1024**2, 413),
    ],
)
def test_bodies_are_limited(made_up: Made, front: str, size: int, status: int) -> None:
    assert made_up[0].client(front, source="127.0.0.24").post("/api/x", content=b"x" * size).status_code == status


def test_the_operators_door_is_closed_from_outside(made_up: Made) -> None:
    gate, server = made_up
    answer = gate.client("site").post("/signals/ingest", json={})
    assert (answer.status_code, "nginx" in answer.text) == (404, False)
    assert server.count("/signals/ingest") == 0
