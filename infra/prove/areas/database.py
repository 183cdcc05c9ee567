"""Area database: connects, the catalogue, the protected tables and their definitions."""

import asyncio

from infra.prove.areas.catalogue import check_catalogue
from infra.prove.areas.connects import check_connects
from infra.prove.areas.definitions import check_definitions
from infra.prove.areas.protected import check_protected
from infra.prove.areas.socket_path import check_socket_path
from infra.prove.areas.tricked import check_tricked
from infra.prove.check import Book, Check
from infra.prove.target import Target
from shared.settings import DATABASES


async def check(target: Target) -> list[Check]:
    book = Book("database")
    check_socket_path(target, book)
    await asyncio.gather(
        *(check_connects(target, book, user) for user in target.users),
        *(check_protected(target, book, service) for service in DATABASES),
        check_catalogue(target, book),
        check_definitions(target, book),
        check_tricked(target, book),
    )
    return book.checks
