"""Area bus: rights of every service, forged replies, ways in, and the server itself."""

import asyncio

from infra.prove.areas.bus_server import check_server
from infra.prove.areas.forging import check_forging
from infra.prove.areas.rights import check_rights
from infra.prove.check import Book, Check
from infra.prove.doing.doors import DOORS, FALSE_SERVERS
from infra.prove.target import Target
from schemas.catalogue import SERVICES


async def check(target: Target) -> list[Check]:
    book = Book("bus")
    await asyncio.gather(
        *(check_rights(target, book, service) for service in SERVICES), check_forging(target, book), check_server(target, book), _doors(target, book)
    )  # fmt: skip
    return book.checks


async def _doors(target: Target, book: Book) -> None:
    outcomes = await target.run("site", [{"kind": "doors", "door": door} for door in (*DOORS, *FALSE_SERVERS)])
    for door, outcome in zip((*DOORS, *FALSE_SERVERS), outcomes, strict=True):
        says = f"our client believes {door}" if door in FALSE_SERVERS else f"connect: {door}"
        book.outcome("anybody" if door in DOORS else "site", says, outcome)
