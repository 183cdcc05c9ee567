"""What the running processes are and may: user, groups, capabilities, where they listen."""

import grp
from pathlib import Path

from infra.local.layout import GROUP, user_of
from infra.prove.check import Book
from infra.prove.listening import listens
from infra.prove.target import Target
from schemas.catalogue import SERVICES

HTTP = {"console": "console", "site": "site", "agent": "workspace"}


def check_processes(target: Target, book: Book) -> None:
    for part, pid in target.pids.items():
        status = _status(pid)
        user = user_of(part)
        book.same(
            part,
            "process: runs as its own user, really and effectively",
            {target.who.uids[user]},
            {int(each) for each in status["Uid"].split()},
        )
        strange = sorted(set(listens(pid)) - set(_addresses(target, part)))
        book.holds(part, "process: listens only where it must", ", ".join(strange))
        book.same(part, "process: can gain no privileges", "1", status["NoNewPrivs"])
        if not target.separated:
            book.open(part, "process: has no capabilities", "none")
            continue
        book.same(
            part,
            "process: has no capabilities",
            {0},
            {int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")},
        )
        book.same(part, "process: groups", _groups(target, user), {int(each) for each in status["Groups"].split()})
    for service in SERVICES:
        command = (
            Path(f"/proc/{target.pids[service]}/cmdline").read_text().split("\0") if service in target.pids else []
        )
        book.holds(
            service,
            "process: its command line says which service it is",
            "" if f"services.{service}" in command else " ".join(command),
        )


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _addresses(target: Target, part: str) -> list[str]:
    """Loopback only, as the urls say; the servers' and the silent services' lists are short."""
    if part == "nats":
        return [f"127.0.0.1:{target.config.ports['nats']}"]
    if part not in HTTP:
        return []
    host, port = target.config.urls[HTTP[part]].removeprefix("http://").rsplit(":", 1)
    return sorted(f"{address}:{port}" for address in (["127.0.0.1", "::1"] if host == "localhost" else [host]))


def _groups(target: Target, user: str) -> set[int]:
    """Its own and, where it must reach the Postgres socket, the shared one."""
    own = {target.who.gids[user]}
    return own if user == "nats" else own | {grp.getgrnam(GROUP).gr_gid}
