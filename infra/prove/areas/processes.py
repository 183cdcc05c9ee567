"""What the running processes are and may: user, groups, capabilities, where they listen."""

from pathlib import Path

from infra.local.instances import base_of, services
from infra.local.layout import APPS, user_of
from infra.observe.processes import (
    NO_CAPABILITIES,
    addresses_of,
    capabilities_of,
    expected_groups,
    groups_of,
    status_of,
    uids_of,
)
from infra.prove.check import IN_CONTAINERS, Book
from infra.prove.target import Target


async def check_processes(target: Target, book: Book) -> None:
    if target.config.containers:
        book.open("every part", "process: user, groups, capabilities, listeners", "as designed", IN_CONTAINERS)
        return
    for part in target.pids:
        if part == APPS:  # it cannot be looked into, and its network is empty (area apps)
            _rights(target, book, part)
            continue
        strange = sorted(set(await listens_as_itself(target, part)) - set(addresses_of(target.config, part)))
        book.holds(part, "process: listens only where it must", ", ".join(strange))
        _rights(target, book, part)
    _commands(target, book)


def _rights(target: Target, book: Book, part: str) -> None:
    status, user = status_of(target.pids[part]), user_of(part)
    book.same(part, "process: runs as its own user, really and effectively", {target.who.uids[user]}, uids_of(status))
    book.same(part, "process: can gain no privileges", "1", status["NoNewPrivs"])
    if not target.separated:
        book.open(part, "process: has no capabilities", "none")
        return
    book.same(part, "process: has no capabilities", NO_CAPABILITIES, capabilities_of(status))
    book.same(part, "process: groups", expected_groups(target, user), groups_of(status))


def _commands(target: Target, book: Book) -> None:
    for part in services(cluster=target.config.cluster):
        command = Path(f"/proc/{target.pids[part]}/cmdline").read_text().split("\0") if part in target.pids else []
        book.holds(
            part,
            "process: its command line says which service it is",
            "" if f"services.{base_of(part)}" in command else " ".join(command),
        )


async def listens_as_itself(target: Target, part: str) -> list[str]:
    """Looked at by the part's own OS user."""
    (outcome,) = await target.run(user_of(part), [{"kind": "listening", "pid": target.pids[part]}])
    found: list[str] = outcome["value"]
    return found
