"""Wrong passwords by the thousand: the door stays shut, quickly, and nothing grows."""

import asyncio
import resource
import time
from uuid import uuid4

import pytest

from services.console.people.passwords import Passwords
from services.console.people.usecases.sign_in import sign_in
from shared.errors import TooMany, Unauthorized
from tests.services.console.conftest import Desk
from tests.services.console.joining import made

AT_ONCE = 20
OPENINGS = 10
"""The door opens for one try after 15 s, 30 s, 1 min, …, and shuts again for longer: that often within an hour."""


async def guess(desk: Desk, passwords: Passwords, tries: int, handle: str, address: str, names: int = 1) -> dict[str, int]:  # fmt: skip
    """How the tries ended, by the error's name. `names`: how many different handles are tried in turn."""
    ended: dict[str, int] = {}
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with turn:
            name = handle if names == 1 else f"{handle}-{number % names}"
            try:
                await sign_in(desk.db, passwords, name, f"wrong {number}", address)
            except (Unauthorized, TooMany) as error:
                ended[error.code] = ended.get(error.code, 0) + 1

    await asyncio.gather(*(one(number) for number in range(tries)))
    return ended


async def campaign(desk: Desk, passwords: Passwords, tries: int) -> float:
    """Seconds per try; asserts everything else."""
    handle, address, mark = await made(desk, passwords), f"2001:db8::{uuid4().hex[:4]}", uuid4().hex[:8]
    await guess(desk, passwords, 6, handle, address)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.monotonic()
    ended = await guess(desk, passwords, tries, handle, address)
    ended_elsewhere = await guess(desk, passwords, tries, mark, f"{address}:1", names=tries)
    seconds = (time.monotonic() - begun) / (2 * tries)
    assert ended.get("sign_in", 0) <= OPENINGS, "the account is shut, and hardly a password was looked at"
    assert ended_elsewhere["sign_in"] <= AT_ONCE + OPENINGS, "one address is shut whatever names it tries"
    left = await desk.rows("SELECT subject FROM app.sign_in_failures WHERE subject LIKE '%' || $1 || '%'", mark)
    assert len(left) <= AT_ONCE + OPENINGS, "a name that was tried while the address was shut leaves no row"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    assert grown < 200 * 1024, f"{grown} KiB"
    return seconds


async def test_hundreds_of_wrong_passwords(desk: Desk, passwords: Passwords) -> None:
    assert await campaign(desk, passwords, 150) < 0.2


@pytest.mark.long
async def test_ten_thousand_wrong_passwords(desk: Desk, passwords: Passwords) -> None:
    assert await campaign(desk, passwords, 10_000) < 0.05
