"""Passwords: argon2id in a thread, few at once (each takes 64 MB and a quarter of a second); zxcvbn as the bar."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from zxcvbn import zxcvbn

from schemas.text import text_fault
from services.console.people.domain import MAX_PASSWORD, MIN_PASSWORD
from shared.errors import Refused, TooMany

AT_ONCE = 2
WAITING = 64
"""How many may wait for their turn; whoever comes then is told to try again, so that a flood holds up nobody for minutes."""
GOOD_ENOUGH = 3
_ZXCVBN_LIMIT = 72
"""zxcvbn's time grows fast with length; what is strong in its first 72 characters is strong."""


class Passwords:
    """Hashes and checks. One per process."""

    def __init__(self, hasher: Argon2Hasher | None = None) -> None:
        self._hasher = PasswordHash((hasher or Argon2Hasher(),))
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0
        self._decoy: str | None = None

    async def hash(self, password: str) -> str:
        async with self._turn():
            return await asyncio.to_thread(self._hasher.hash, password)

    async def verify(self, password: str, stored: str | None) -> bool:
        """Takes as long for an unknown person (`stored` None) as for a known one, and is False then."""
        if stored is None:
            self._decoy = self._decoy or await self.hash("nobody's password")
        async with self._turn():
            fits = await asyncio.to_thread(self._hasher.verify, password[:MAX_PASSWORD], stored or self._decoy or "")
        return fits and stored is not None

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """TooMany when the queue is full."""
        if self._waiting >= WAITING:
            raise TooMany("Very many people sign in at this moment. Try again in a few seconds.", code="busy")
        self._waiting += 1
        try:
            async with self._gate:
                yield
        finally:
            self._waiting -= 1


def check_password(password: str, *about: str) -> None:
    """Refused, with what would make it better, when the password is too short or too easy to guess.

    `about` are words an attacker would try first, beside the product's name: the person's name and handle.
    """
    if text_fault(password):
        raise Refused("The password has a character that cannot be stored.", code="password")
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise Refused(f"A password has {MIN_PASSWORD} to {MAX_PASSWORD} characters.", code="password")
    found = zxcvbn(password[:_ZXCVBN_LIMIT], user_inputs=["schleuse", *filter(None, about)])
    if found["score"] < GOOD_ENOUGH:
        advice = [found["feedback"]["warning"], *found["feedback"]["suggestions"]]
        said = " ".join(each.rstrip(".") + "." for each in advice if each)
        raise Refused(f"This password is too easy to guess. {said or 'Take a longer one.'}", code="password")
