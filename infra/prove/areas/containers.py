"""Area containers: what each container says of itself, what the kernel confirms of it, what can be reached from here, and docker-compose.yml.

Without containers only the file is looked at. What cannot be seen from the operator's container is `open`, with the reason.
"""

import asyncio
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.docker import addresses, facts, rules, uids
from infra.docker.enter import user_of
from infra.local.config import Config
from infra.local.layout import Layout
from infra.prove.areas.socket_path import served_by
from infra.prove.check import Book, Check
from infra.prove.target import Target
from schemas.catalogue import SERVICES
from shared.settings import FRONTS

PARTS = ("postgres", "nats", "keeper", "apps", *SERVICES)
FRESH_SECONDS = 180.0
PATIENCE = 2.0
NOWHERE = ("192.0.2.1", 443)
"""An address that belongs to nobody (RFC 5737): without a way out there is not even a route to it."""
Facts = dict[str, Any]


@dataclass(frozen=True)
class Design:
    """What a container must say. `writable`: mount points; `listens`: addresses on its networks."""

    uid: int
    groups: set[int]
    writable: set[str]
    listens: set[str]
    way_out: bool


async def check(target: Target) -> list[Check]:
    book = Book("containers")
    _file(book)
    if not target.config.containers:
        return book.checks
    for part in PARTS:
        examine(book, part, folder_of(target.layout, part), design(target.config, part), time.time())
    _sockets(target, book)
    await _reach(target, book)
    book.open(
        "nginx",
        "says nothing of itself",
        "as designed",
        "the official image has no program of ours; `make compose-test` looks from outside",
    )
    return book.checks


def folder_of(layout: Layout, part: str) -> Path:
    return layout.pg_socket_dir if part == "postgres" else layout.run / part


def design(config: Config, part: str) -> Design:
    user = uids.users()[user_of(part)]
    own = {"postgres": {"/state/run/pg", "/state/pg"}, "nats": {"/state/run/nats", "/state/nats"}}.get(
        part, {f"/state/run/{part}"}
    )
    keys = {"console": {"/state/keys/console"}, "connectors": {"/state/secrets"}}.get(part, set())
    listens: set[str] = set()
    if part in FRONTS:
        listens = {f"{config.listen[FRONTS[part]]}:{config.ports[FRONTS[part]]}"}
    elif part == "nats":
        listens = {server.partition("//")[2] for server in config.nats_servers[:1]}
    groups = {user.uid, uids.group()} if user.socket else {user.uid}
    return Design(user.uid, groups, own | keys, listens, part == "connectors")


def examine(book: Book, part: str, folder: Path, must: Design, now: float) -> None:
    """Rows for one container, from the file that it keeps writing."""
    path = folder / facts.NAME
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(handle) as file:
            owner, said = os.fstat(handle).st_uid, json.loads(file.read(1024**2))
    except (OSError, ValueError) as error:
        book.add(part, "container: says what it is", "said", f"nothing that can be read: {error}")
        return
    book.same(part, "container: who wrote what it says (the kernel's word)", must.uid, owner)
    book.holds(
        part,
        "container: says what it is now",
        "" if now - said["at"] < FRESH_SECONDS else f"last {now - said['at']:.0f} s ago",
    )
    _user(book, part, said, must)
    _walls(book, part, said, must)


def _user(book: Book, part: str, said: Facts, must: Design) -> None:
    book.same(part, "container: its user, really and effectively", [must.uid], said["uid"])
    book.same(part, "container: its group", [must.uid], said["gid"])
    strange = sorted(set(said["groups"]) - must.groups)
    book.holds(part, "container: is in no other groups", f"{strange}" if strange else "")
    held = {name: f"{value:x}" for name, value in said["capabilities"].items() if value}
    book.holds(part, "container: holds no capabilities", f"{held}" if held else "")
    book.holds(part, "container: can gain no privileges", "" if said["no_new_privileges"] else "it can")
    book.holds(part, "container: system calls are filtered", "" if said["seccomp"] else "they are not")


def _walls(book: Book, part: str, said: Facts, must: Design) -> None:
    book.holds(part, "container: its root is read-only", "" if said["read_only_root"] else "it can be written to")
    extra = sorted(
        point
        for point in said["writable"]
        if point not in must.writable and not point.startswith(("/etc/", "/run/.", "/var/run"))
    )
    book.holds(part, "container: can write to its own places only", ", ".join(extra))
    out = "has a way out" if said["way_out"] else "has none"
    book.same(part, "container: way out of the networks", "has a way out" if must.way_out else "has none", out)
    foreign = sorted(set(said["listens"]) - must.listens - set(_resolver(said["listens"])))
    book.holds(part, "container: listens only where it must", ", ".join(foreign))


def _resolver(listens: list[str]) -> list[str]:
    """Docker's own name server listens inside each network namespace."""
    return [each for each in listens if each.startswith("127.0.0.11:")]


def _sockets(target: Target, book: Book) -> None:
    """The kernel says who is at the other end, whatever that container says of itself."""
    for service in SERVICES:
        book.same(
            service,
            "container: uid at the other end of its socket",
            uids.users()[service].uid,
            served_by(target.layout.health(service)),
        )
    book.same(
        "postgres",
        "container: uid at the other end of its socket",
        uids.users()["pgadm"].uid,
        served_by(target.layout.pg_socket_dir / ".s.PGSQL.5432"),
    )


async def _reach(target: Target, book: Book) -> None:
    """From the bus nobody reaches a page; from here nothing leaves."""
    net = target.config.listen["console"].rsplit(".", 2)[0]
    for service, front in FRONTS.items():
        place = addresses.on_the_bus(net, service), target.config.ports[front]
        book.same("on the bus", f"reach the pages of {service}", "no answer", await _answers(*place))
    for number in (5432, 8222, 6222):
        place = addresses.on_the_bus(net, "nats"), number
        book.same("on the bus", f"reach port {number} of nats", "no answer", await _answers(*place))
    book.same("operator", "leave the networks", "no answer", await _answers(*NOWHERE))


async def _answers(host: str, port: int) -> str:
    try:
        async with asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return "no answer"
    writer.close()
    return "it answers"


def _file(book: Book) -> None:
    """The file that the images were built beside; whether the containers came from it, `make compose-test` sees."""
    found = list(rules.faults(rules.load()))
    book.holds(
        "docker-compose.yml",
        "one user, one read-only container, its own keys and networks for each",
        "; ".join(found[:5]),
    )
