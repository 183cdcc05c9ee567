"""Whether the site may answer at all: a fresh signed head that we have reached (S6), and the site's mode (rule 27)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from schemas.statements import GateHead
from services.site.publication.chain import LogState

MAX_AGE = timedelta(hours=24)
ASK_AGAIN = timedelta(hours=2)
"""The gate seals a head every hour; one that is twice as old is asked for."""
CATCH_UP = 10.0
"""Seconds that a running site may lag behind a signed head before it stops answering."""

Verdict = Literal["open", "members", "shut", "waiting"]


@dataclass(frozen=True)
class Answer:
    """`open`: pages are answered; `members`: to people who have signed in. `shut`: 403 for everybody. `waiting`: 503 until the gate
    has been heard."""

    verdict: Verdict
    reason: str


class Door:
    """`wall` is the wall clock; `elapsed` gives seconds that no change of the clock touches, sleep of the machine included."""

    def __init__(
        self, nonce: str, default_mode: str, wall: Callable[[], datetime], elapsed: Callable[[], float]
    ) -> None:
        self.nonce = nonce
        self._default_mode = default_mode
        self._wall = wall
        self._elapsed = elapsed
        self._answered = False
        self._newest: tuple[datetime, timedelta, float] | None = None
        self._expected: dict[int, str] = {}
        self._behind_since: float | None = None
        self._fork: str | None = None
        self._was_level = False
        self._asked_at: int | None = None

    def asked(self, log: LogState) -> None:
        """We ask the gate: whatever it answers, its log has been at least where ours is now."""
        self._asked_at = log.seq if self._asked_at is None else self._asked_at

    def see(self, head: GateHead, log: LogState, hash_at: Callable[[int], str | None]) -> None:
        """Take note of a verified head."""
        age = max(self._wall() - head.at, timedelta(0))
        if self._newest is None or age <= self._age(self._newest):
            self._newest = (head.at, age, self._elapsed())
        if head.seq > log.seq:
            self._expected[head.seq] = head.head
            self._behind_since = self._behind_since or self._elapsed()
        elif head.seq >= 0 and hash_at(head.seq) != head.head:
            self._fork = f"the gate's log and ours differ at entry {head.seq}"
        if head.nonce == self.nonce and self._asked_at is not None and head.seq < self._asked_at:
            self._fork = (
                f"the gate's log ends at entry {head.seq}, and ours had {self._asked_at}: an old backup was put back"
            )
        self._answered = self._answered or head.nonce == self.nonce
        self._level()

    def reached(self, log: LogState) -> None:
        """Our copy of the log has grown."""
        expected = self._expected.pop(log.seq, None)
        if expected is not None and expected != log.hash:
            self._fork = f"the gate's log and ours differ at entry {log.seq}"
        self._expected = {seq: hash_ for seq, hash_ in self._expected.items() if seq > log.seq}
        if not self._expected:
            self._behind_since = None
        self._level()

    def lost(self, log: LogState) -> None:
        """Our copy of the log is to be read anew, at least up to here."""
        if log.seq >= 0:
            self._expected[log.seq] = log.hash
            self._behind_since, self._was_level = self._elapsed(), False

    def _level(self) -> None:
        self._was_level = self._was_level or (self._answered and self._behind_since is None)

    def _age(self, seen: tuple[datetime, timedelta, float]) -> timedelta:
        at, age, since = seen
        return max(age + timedelta(seconds=self._elapsed() - since), self._wall() - at)

    @property
    def head_age(self) -> timedelta | None:
        """Age of the newest signed head: by the wall clock or by elapsed time, whichever is more."""
        return None if self._newest is None else self._age(self._newest)

    @property
    def must_ask(self) -> bool:
        """Whether the gate has to be asked now rather than in its own time."""
        age = self.head_age
        return not self._answered or self._behind_since is not None or age is None or age > ASK_AGAIN

    def answer(self, log: LogState) -> Answer:
        fault = self._fault()
        if fault:
            return Answer("waiting", fault)
        mode = log.mode or self._default_mode
        if mode == "members":
            return Answer("members", "the site's mode is members")
        if mode != "open":
            return Answer("shut", f"the site's mode is {mode}")
        return Answer("open", f"entry {log.seq} of the gate's log")

    def _fault(self) -> str | None:
        if self._fork:
            return self._fork
        if not self._answered:
            return "the gate has not answered yet"
        age = self.head_age
        if age is None or age > MAX_AGE:
            return "the gate's newest signed head is older than 24 hours"
        if self._behind_since is None:
            return None
        if not self._was_level or self._elapsed() - self._behind_since > CATCH_UP:
            return f"entries up to {max(self._expected)} of the gate's log are missing"
        return None
