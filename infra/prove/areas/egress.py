"""Area egress: every OS user but connectors' tries to leave this machine, and the kernel's rules are read beside those that the code declares."""

import asyncio
from typing import Any

from infra.local import control
from infra.local.firewall.choice import backend
from infra.local.firewall.rules import DNS, MAY_LEAVE, REFUSED, rules_of
from infra.local.layout import ALL_USERS
from infra.prove.check import Book, Check
from infra.prove.target import Attempt, Target
from shared.errors import Refused

OFF_THE_MACHINE: tuple[Attempt, ...] = tuple(
    {"kind": "leaving", "host": host, "port": 443, "by": by}
    for host in ("192.0.2.1", "2001:db8::1")
    for by in ("tcp", "udp")
)
NAME_SERVERS: tuple[Attempt, ...] = (
    {"kind": "leaving", "host": "127.0.0.1", "port": DNS, "by": "udp"},
    {"kind": "leaving", "host": "192.0.2.1", "port": DNS, "by": "udp"},
)
IN_CONTAINERS = "their networks have no way out; area containers reads what each says of itself"


async def check(target: Target) -> list[Check]:
    book = Book("egress")
    told = _told(target)
    if not told.get("on"):
        book.open("every part but connectors", "leave this machine", "refused", told.get("why", ""))
        return book.checks
    shut = [user for user in ALL_USERS if user not in MAY_LEAVE]
    await asyncio.gather(
        *(_leave(target, book, user) for user in shut), *(_may_leave(target, book, user) for user in MAY_LEAVE)
    )
    _rules(target, book, told["tool"])
    return book.checks


def _told(target: Target) -> dict[str, Any]:
    """What the supervisor says of its rules."""
    if target.config.containers:
        return {"on": False, "why": IN_CONTAINERS}
    told: dict[str, Any] = control.ask(target.layout, "status").get("egress", {})
    return told


async def _leave(target: Target, book: Book, user: str) -> None:
    """That there is no way for anybody is as good."""
    tried = [*OFF_THE_MACHINE, *NAME_SERVERS]
    for attempt, outcome in zip(tried, await target.run(user, tried), strict=True):
        got = "refused" if outcome["got"] == "nowhere" else outcome["got"]
        book.outcome(user, _says(attempt), outcome | {"got": got})


async def _may_leave(target: Target, book: Book, user: str) -> None:
    """By datagram: what is said of those is the kernel's own word, never that of somebody on the way. A machine without a way there is no fault."""
    tried = [each for each in OFF_THE_MACHINE if each["by"] == "udp"]
    for attempt, outcome in zip(tried, await target.run(user, tried), strict=True):
        kept_in = outcome["got"] not in ("done", "nowhere")
        book.holds(user, f"is not kept in: {attempt['host']}", outcome["detail"] if kept_in else "")


def _rules(target: Target, book: Book, tool: str) -> None:
    used, rules = backend(tool), rules_of(target.config)
    if used is None:
        raise Refused(f"{tool} is not installed any more", code="firewall")
    found = used.read(rules)
    for user in (*rules.users, ""):
        wrong = "; ".join(
            f"{family}: {said}" for (whose, family), said in found.items() if whose == user and said != REFUSED
        )
        book.holds(user or "firewall", f"firewall: rules of {user or 'nobody else'} are as declared", wrong)


def _says(attempt: Attempt) -> str:
    what = "ask a name server" if attempt["port"] == DNS else "leave this machine"
    return f"{what}: {attempt['host']} port {attempt['port']} by {attempt['by']}"
