"""The door with real servers on loopback and a real name server: what was checked is what is dialled (rule 26, NT-01)."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from services.connectors.egress.door import Door
from services.connectors.egress.hosts import allow_list, parse_url
from services.connectors.egress.redirects import Hop, is_redirect, next_hop
from services.connectors.egress.way import Way
from shared.errors import Refused, Transient
from shared.settings import Settings
from tests.counterparts.certificates import authority
from tests.counterparts.name_server import name_server

LOOPBACK = ("127.0.0.1",)


@dataclass
class Echo:
    """A server that notes each request's head and answers with `location`, or with where it was asked."""

    host: str
    port: int
    heads: list[str] = field(default_factory=list)
    location: Callable[[str], str | None] = lambda head: None


@asynccontextmanager
async def echo(host: str = "127.0.0.1", port: int = 0, certificate: Path | None = None) -> AsyncIterator[Echo]:
    found = Echo(host, port)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                found.heads.append(head)
                to = found.location(head)
                status = f"302 Found\r\nlocation: {to}" if to else "200 OK"
                writer.write(f"HTTP/1.1 {status}\r\ncontent-length: {len(host)}\r\n\r\n{host}".encode())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    async with await asyncio.start_server(serve, host, port, ssl=context) as server:
        found.port = server.sockets[0].getsockname()[1]
        yield found


def door(*, dns: tuple[str, ...] = (), ca: Path | None = None) -> Door:
    return Door(Settings.model_construct(dns_servers=dns, outward_ca=ca))


def way(found: Door, *hosts: str, addresses: tuple[str, ...] = LOOPBACK) -> Way:
    return found.way(allow_list(hosts, 80), addresses)


async def get(out: Way, url: str, **more: Any) -> httpx2.Response:
    async with httpx2.AsyncClient(transport=out.http(), trust_env=False, timeout=60) as client:
        return await client.get(url, **more)


async def test_a_name_that_changes_its_address_between_check_and_call_is_dialled_where_it_was_checked() -> None:
    async with echo() as ours, echo("127.0.0.2", ours.port) as theirs, name_server({"rebind.test": [["127.0.0.1"], ["127.0.0.2"]]}) as names:  # fmt: skip
        found = door(dns=(names.address,))
        place = f"rebind.test:{ours.port}"
        out = way(found, place)
        assert [(await get(out, f"http://{place}/")).text for _ in range(2)] == ["127.0.0.1", "127.0.0.1"]
        assert sorted(names.asked) == [("rebind.test", "A"), ("rebind.test", "AAAA")]
        assert out.reached == (f"{place} [127.0.0.1]",) * 2
        with pytest.raises(Refused, match=r"127\.0\.0\.2.*loopback") as refused:
            await get(way(found, place), f"http://{place}/")
        assert refused.value.code == "egress"
        assert theirs.heads == []


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1", "10.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["127.0.0.1", "fe80::1"],
        ["0.0.0.0"],
        ["100.64.0.1"],
    ],
)
async def test_one_address_that_may_not_be_dialled_shuts_the_name(addresses: list[str]) -> None:
    async with echo() as server, name_server({"mixed.test": [addresses]}) as names:
        place = f"mixed.test:{server.port}"
        out = way(door(dns=(names.address,)), place)
        with pytest.raises(Refused) as refused:
            await get(out, f"http://{place}/")
        assert refused.value.code == "egress"
        assert (server.heads, out.reached) == ([], ())


async def test_a_name_that_does_not_resolve_and_a_port_where_nobody_listens_say_so() -> None:
    async with echo() as gone:
        pass
    hosts = (f"127.0.0.1:{gone.port}", "no-address.test", "unknown.test")
    async with name_server({"no-address.test": [[]]}) as names:
        found = door(dns=(names.address,))
        for host, code in zip(hosts, ("unreachable", "unresolved", "unresolved"), strict=True):
            with pytest.raises(Transient) as failed:
                await get(way(found, *hosts), f"http://{host}/")
            assert failed.value.code == code
            assert host.partition(":")[0] in failed.value.message


async def test_the_request_cannot_say_another_host_than_the_one_that_is_dialled() -> None:
    async with echo() as server:
        place = f"127.0.0.1:{server.port}"
        headers = {"host": "internal.example", "x-kept": "yes"}
        await get(
            way(door(), place), f"http://{place}/", headers=headers, extensions={"sni_hostname": "internal.example"}
        )
        assert f"\r\nHost: {place}\r\n" in server.heads[0]
        assert "internal.example" not in server.heads[0]
        assert "x-kept: yes" in server.heads[0]


async def test_an_open_connection_lets_no_other_host_through() -> None:
    async with echo() as server:
        place = f"127.0.0.1:{server.port}"
        async with httpx2.AsyncClient(transport=way(door(), place).http(), trust_env=False) as client:
            await client.get(f"http://{place}/")
            for url in (f"http://localhost:{server.port}/", f"http://127.0.0.2:{server.port}/", f"https://{place.replace('127', '128')}/"):  # fmt: skip
                with pytest.raises(Refused):
                    await client.get(url)
        assert len(server.heads) == 1


async def test_proxies_and_authorities_of_the_environment_do_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # fmt: skip
    issuer = authority(tmp_path)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("SSL_CERT_FILE", str(issuer.file))
    async with echo() as plain, echo(certificate=issuer.issue("localhost")) as tls:
        place, secure = f"127.0.0.1:{plain.port}", f"localhost:{tls.port}"
        assert (await get(way(door(), place), f"http://{place}/")).status_code == 200
        with pytest.raises(Refused, match="certificate"):
            await get(way(door(), secure), f"https://{secure}/")


async def test_certificates_are_checked_for_chain_name_and_time(tmp_path: Path) -> None:
    issuer = authority(tmp_path)
    good, other, old = (
        issuer.issue("localhost"),
        issuer.issue("elsewhere.test"),
        issuer.issue("localhost", expired=True),
    )
    async with echo(certificate=good) as right, echo(certificate=other) as wrong, echo(certificate=old) as expired, echo() as plain:  # fmt: skip
        places = [f"localhost:{each.port}" for each in (right, wrong, expired, plain)]
        trusting = door(ca=issuer.file)
        assert (await get(way(trusting, *places), f"https://{places[0]}/")).text == "127.0.0.1"
        for found, place in ((door(), places[0]), (trusting, places[1]), (trusting, places[2])):
            with pytest.raises(Refused) as refused:
                await get(way(found, place), f"https://{place}/?key=hunter2")
            assert (refused.value.code, refused.value.__cause__) == ("certificate", None)
        with pytest.raises(Transient) as failed:
            await get(way(trusting, *places), f"https://{places[3]}/", timeout=0.3)
        assert failed.value.code == "tls"


async def test_a_dialled_socket_is_connected_and_does_not_block() -> None:
    async with echo() as server:
        out = way(door(), f"127.0.0.1:{server.port}")
        with await out.dial("127.0.0.1", server.port) as connected:
            assert connected.getpeername() == ("127.0.0.1", server.port)
            assert not connected.getblocking()
        with pytest.raises(Refused):
            await out.dial("127.0.0.1", server.port + 1)
        assert out.tls().verify_mode == ssl.CERT_REQUIRED
        assert out.tls().check_hostname


async def follow(out: Way, url: str, allowed: tuple[str, ...]) -> tuple[httpx2.Response, Hop]:
    """As a connector does it."""
    hop = Hop("GET", parse_url(url))
    while True:
        headers = dict(hop.headers((("accept", "*/*"),))) | (
            {"authorization": "Bearer hunter2"} if hop.with_secrets else {}
        )
        answer = await get(out, hop.target.url, headers=headers)
        if not is_redirect(answer.status_code, answer.headers.get("location")):
            return answer, hop
        hop = next_hop(hop, answer.status_code, answer.headers["location"], allowed)


async def test_redirects_are_refused_before_anything_is_dialled() -> None:
    async with echo() as server, echo() as bus:
        place = f"127.0.0.1:{server.port}"
        out = way(door(), place)
        for to in ("http://169.254.169.254/latest/", f"http://127.0.0.1:{bus.port}/", f"ftp://{place}/", f"http://x@{place}/"):  # fmt: skip
            server.location = lambda _, to=to: to
            with pytest.raises(Refused):
                await follow(out, f"http://{place}/", allow_list((place,), 80))
        server.location = lambda _: "/again"
        with pytest.raises(Refused, match="more than 10 times"):
            await follow(out, f"http://{place}/", allow_list((place,), 80))
        assert bus.heads == []
        assert {each.partition(" ")[0] for each in out.reached} == {place}


async def test_a_redirect_from_https_to_http_is_refused_with_the_credentials_unsent(tmp_path: Path) -> None:
    issuer = authority(tmp_path)
    async with echo() as plain, echo(certificate=issuer.issue("localhost")) as server:
        places = (f"localhost:{server.port}", f"localhost:{plain.port}")
        server.location = lambda _: f"http://{places[1]}/"
        with pytest.raises(Refused, match="from https to http"):
            await follow(way(door(ca=issuer.file), *places), f"https://{places[0]}/", allow_list(places, 80))
        assert "hunter2" in server.heads[0]
        assert plain.heads == []


async def test_a_redirect_to_another_allowed_host_carries_no_credentials() -> None:
    async with echo() as first, echo() as second:
        places = (f"127.0.0.1:{first.port}", f"127.0.0.1:{second.port}")
        first.location = lambda _: f"http://{places[1]}/there"
        answer, hop = await follow(way(door(), *places), f"http://{places[0]}/", allow_list(places, 80))
        assert (answer.status_code, hop.with_secrets) == (200, False)
        assert "hunter2" in first.heads[0]
        assert "hunter2" not in second.heads[0]


async def test_addresses_of_the_sixth_version_and_names_in_other_scripts_are_reached_as_they_were_listed() -> None:
    async with echo("::1") as six, echo() as four, name_server({"xn--bcher-kva.test": [["127.0.0.1"]]}) as names:
        places = (f"[::1]:{six.port}", f"BÜCHER.test:{four.port}")
        out = way(door(dns=(names.address,)), *places, addresses=("::1", "127.0.0.1"))
        for url in (f"http://{places[0]}/", f"http://{places[1]}/", f"http://xn--bcher-kva.test:{four.port}/"):
            assert (await get(out, url)).status_code == 200
        assert f"\r\nHost: {places[0]}\r\n" in six.heads[0]
        assert {f"Host: xn--bcher-kva.test:{four.port}" in head for head in four.heads} == {True}
        assert names.asked[0][0] == "xn--bcher-kva.test"


async def test_a_name_server_that_does_not_answer_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.connectors.egress.resolver.PATIENCE_S", 0.2)
    loop = asyncio.get_running_loop()
    silent, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, local_addr=("127.0.0.1", 0))
    port = silent.get_extra_info("sockname")[1]
    with pytest.raises(Transient) as failed:
        await get(way(door(dns=(f"127.0.0.1:{port}",)), "a.test"), "http://a.test/")
    silent.close()
    assert failed.value.code == "unresolved"
