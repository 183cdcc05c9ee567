"""What the running processes are and may: user, groups, capabilities, where they listen."""

import grp
from pathlib import Path

from infra.local.layout import GROUP, user_of
from infra.prove.check import Book
from infra.prove.fetch import way_to
from infra.prove.target import Target
from schemas.catalogue import SERVICES

HTTP = {"console": "console", "site": "site", "agent": "workspace"}


async def check_processes(target: Target, book: Book) -> None:
    for part in target.pids:
        strange = sorted(set(await listens_as_itself(target, part)) - set(_addresses(target, part)))
        book.holds(part, "process: listens only where it must", ", ".join(strange))
        _rights(target, book, part)
    _commands(target, book)


def _rights(target: Target, book: Book, part: str) -> None:
    status, user = _status(target.pids[part]), user_of(part)
    uids = {int(each) for each in status["Uid"].split()}
    book.same(part, "process: runs as its own user, really and effectively", {target.who.uids[user]}, uids)
    book.same(part, "process: can gain no privileges", "1", status["NoNewPrivs"])
    if not target.separated:
        book.open(part, "process: has no capabilities", "none")
        return
    capabilities = {int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")}
    book.same(part, "process: has no capabilities", {0}, capabilities)
    book.same(part, "process: groups", _groups(target, user), {int(each) for each in status["Groups"].split()})


def _commands(target: Target, book: Book) -> None:
    for service in SERVICES:
        command = (
            Path(f"/proc/{target.pids[service]}/cmdline").read_text().split("\0") if service in target.pids else []
        )
        book.holds(
            service,
            "process: its command line says which service it is",
            "" if f"services.{service}" in command else " ".join(command),
        )


async def listens_as_itself(target: Target, part: str) -> list[str]:
    """Looked at by the part's own OS user."""
    (outcome,) = await target.run(user_of(part), [{"kind": "listening", "pid": target.pids[part]}])
    found: list[str] = outcome["value"]
    return found


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _addresses(target: Target, part: str) -> list[str]:
    """Where the fronts are told to listen, loopback as a rule; the servers' and the silent services' lists are short."""
    if part == "nats":
        return [f"127.0.0.1:{target.config.ports['nats']}"]
    if part not in HTTP:
        return []
    host, port = way_to(target.config.urls[HTTP[part]])
    return sorted(f"{address}:{port}" for address in (["127.0.0.1", "::1"] if host == "localhost" else [host]))


def _groups(target: Target, user: str) -> set[int]:
    """Its own and, where it must reach the Postgres socket, the shared one."""
    own = {target.who.gids[user]}
    return own if user == "nats" else own | {grp.getgrnam(GROUP).gr_gid}
