"""The running NATS server: its configuration is the generated one, and it listens where it must and nowhere else (S9)."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from nats.js.errors import NotFoundError

from infra.docker.bus import places
from infra.local.keys import bus_users
from infra.nats.config import Place, render
from infra.nats.provision import connect, consumer_config, stream_config
from infra.nats.topology import durables, streams
from infra.observe.bus import apart, plain
from infra.observe.listening import started_at
from infra.prove.areas.processes import listens_as_itself
from infra.prove.check import IN_CONTAINERS, Book
from infra.prove.target import Target

FORBIDDEN = ("allow_responses", "no_auth_user", "websocket", "mqtt", "leafnodes", "gateway", "cluster", "http", "https", "monitor_port", "system_account", "password", "token", "operator", "resolver", "include", "lib_profiling", "default_permissions", "auth_callout", "prof_port", "allow_non_tls")  # fmt: skip


async def check_server(target: Target, book: Book) -> None:
    layout = target.layout
    text = layout.nats_conf.read_text()
    expected = render(_place(target), bus_users(layout))
    book.holds("config", "nats.conf is what the catalogue gives, byte for byte", _first_difference(expected, text))
    book.holds(
        "config",
        "nowhere an empty allow list, which would allow everything",
        ", ".join(re.findall(r"\w+\s*:?\s*\{?\s*allow\s*:?\s*\[\s*\]", text)),
    )
    for word in FORBIDDEN:
        found = re.findall(rf"^\s*{word}\b.*|[{{,]\s*{word}\b[^,}}]*", text, re.M)
        book.holds("config", f"no setting: {word}", "; ".join(found)[:200])
    if target.config.containers:
        book.open("server", "its process, and where it listens", "as designed", IN_CONTAINERS)
    else:
        listening = await listens_as_itself(target, "nats")
        book.same("server", "where it listens", [f"127.0.0.1:{target.config.ports['nats']}"], listening)
        _process(target, book)
    _certificate(target, book)
    await _streams(target, book)


def _place(target: Target) -> Place:
    layout = target.layout
    if target.config.containers:
        return places(target.config)["nats"]
    return Place(target.config.ports["nats"], layout.nats / "js", layout.tls / "ca.pem", layout.tls / "nats.key")


def _first_difference(expected: str, got: str) -> str:
    if expected == got:
        return ""
    wanted, found = expected.splitlines(), got.splitlines()
    extra = [line.strip() for line in found if line not in wanted]
    missing = [line.strip() for line in wanted if line not in found]
    return f"added: {extra[:3]}, missing: {missing[:3]}"


def _process(target: Target, book: Book) -> None:
    pid = target.pids.get("nats", 0)
    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]
    book.same("server", "its command line", ["-c", str(target.layout.nats_conf)], command[1:])
    book.same("server", "who runs it", target.who.uids["nats"], Path(f"/proc/{pid}").stat().st_uid)
    late = target.layout.nats_conf.stat().st_mtime > started_at(pid) + 1
    book.holds(
        "server",
        "it was started with this configuration",
        "nats.conf was written after the server's start" if late else "",
    )


def _certificate(target: Target, book: Book) -> None:
    public = json.loads(target.layout.public_keys.read_text())
    found = hashlib.sha256((target.layout.tls / "ca.pem").read_bytes()).hexdigest()
    book.same("server", "the pinned certificate is the published one", public.get("nats_ca_sha256"), found)


async def _streams(target: Target, book: Book) -> None:
    client = await connect(target.config.bus, target.layout.tls / "ca.pem", target.layout.admin_seed, "admin")
    try:
        js = client.jetstream(timeout=20)
        for stream in streams():
            info = await js.stream_info(stream.name)
            book.holds(
                "streams", f"settings of {stream.name}", apart(stream_config(stream).as_dict(), info.config.as_dict())
            )
            await _consumers(book, js, stream.name)
    finally:
        await client.close()


async def _consumers(book: Book, js: Any, stream: str) -> None:
    expected = [each for each in durables() if each.stream == stream]
    names = json.loads((await js._nc.request(f"$JS.API.CONSUMER.NAMES.{stream}", b"{}", timeout=20)).data)
    book.same(
        "streams",
        f"consumers of {stream}",
        sorted(each.name for each in expected),
        sorted(names.get("consumers") or []),
    )
    for each in expected:
        try:
            info = await js.consumer_info(stream, each.name)
        except NotFoundError:
            book.holds("streams", f"settings of {stream} {each.name}", "it is missing")
            continue
        wanted, found = consumer_config(each).as_dict(), info.config.as_dict()
        book.holds("streams", f"settings of {stream} {each.name}", apart(plain(wanted), plain(found)))
