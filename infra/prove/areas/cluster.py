"""Area cluster: nobody joins the bus's servers or a service's port, and every stream lies three-fold (S9). A single system has none of it."""

import asyncio

from nats.errors import Error as NatsError

from infra.local.instances import base_of, bus_parts, number_of
from infra.local.layout import user_of
from infra.nats.leaders import leaders
from infra.nats.pace import servers_heard
from infra.nats.provision import REPLICAS, connect
from infra.prove.areas.processes import listens_as_itself
from infra.prove.check import Book, Check
from infra.prove.doing.cluster import JOINS
from infra.prove.target import Attempt, Target
from schemas.catalogue import SERVICES


async def check(target: Target) -> list[Check]:
    book = Book("cluster")
    if not target.config.cluster:
        book.holds(
            "installation", "a single system: one server of the bus, one instance of each service", _more(target)
        )
        return book.checks
    await check_joining(target, book)
    await check_members(target, book)
    await check_ports(target, book)
    await check_streams(target, book)
    return book.checks


def _more(target: Target) -> str:
    return ", ".join(part for part in target.pids if number_of(part) > 1)


async def check_joining(target: Target, book: Book) -> None:
    """A stranger on this machine as a server of the cluster, by each of its routes."""
    ports = [target.config.ports[f"{part}-route"] for part in bus_parts(cluster=True)]
    users = target.users if target.separated else ("console",)
    attempts: list[Attempt] = [{"kind": "cluster", "join": how, "port": port} for how in JOINS for port in ports]
    found = await asyncio.gather(*(target.run(user, attempts) for user in users))
    for user, outcomes in zip(users, found, strict=True):
        for attempt, outcome in zip(attempts, outcomes, strict=True):
            book.outcome(f"OS user {user}", f"join the bus {attempt['join']}: route {attempt['port']}", outcome)


async def check_members(target: Target, book: Book) -> None:
    """Who answers as a server of the cluster."""
    layout, expected = target.layout, sorted(bus_parts(cluster=True))
    try:
        client = await connect(target.config.bus, layout.tls / "ca.pem", layout.pacer_seed, "pacer")
        try:
            heard = sorted(await servers_heard(client))
        finally:
            await client.close()
    except (NatsError, OSError, TimeoutError) as error:
        book.add("bus", "its servers are the three of this installation", str(expected), "error", repr(error))
        return
    book.same("bus", "its servers are the three of this installation", expected, heard)


async def check_ports(target: Target, book: Book) -> None:
    """The port that a service's instances share takes no process of another OS user, and nobody else listens on it."""
    for service in SERVICES:
        for place in await listens_as_itself(target, service):
            for user in target.users if target.separated else ():
                if user != user_of(service):
                    (outcome,) = await target.run(user, [{"kind": "cluster", "listen": place}])
                    book.outcome(f"OS user {user}", f"listen beside {service}: {place}", outcome)
            if not target.separated:
                book.open("OS users", f"listen beside {service}: {place}")
            book.same(
                service,
                f"who listens on {place}",
                _instances(target, service),
                await _listeners(target, service, place),
            )


def _instances(target: Target, service: str) -> list[str]:
    return sorted(part for part in target.pids if base_of(part) == service)


async def _listeners(target: Target, service: str, place: str) -> list[str]:
    """Parts that listen there; a process that is none of them by its number."""
    (outcome,) = await target.run(user_of(service), [{"kind": "listening", "place": place}])
    names = {pid: part for part, pid in target.pids.items()}
    return sorted(names.get(pid, f"process {pid}") for pid in outcome["value"])


async def check_streams(target: Target, book: Book) -> None:
    """Every stream has a leader, and three replicas that hold everything."""
    found = await leaders(target.config.bus, target.layout.tls / "ca.pem", target.layout.admin_seed)
    for name, each in found.items():
        book.holds("streams", f"{name} has a leader", "" if each["leader"] else "nobody leads it")
        book.same("streams", f"replicas of {name} that hold everything", REPLICAS, each["current"])
