"""When the site answers at all: a fresh signed head that it has reached, and its mode (S6, rule 27)."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from schemas.statements import FIRST, GateHead
from schemas.text import sha256
from services.site.publication.chain import LogState
from services.site.publication.door import Door

NONCE = "this process"
EMPTY = LogState(frozenset({"key"}))
AT_TWO = replace(EMPTY, seq=2, hash=sha256(b"2"))


@dataclass
class Clocks:
    wall: datetime = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
    elapsed: float = 1000.0

    def pass_(self, **time: float) -> None:
        step = timedelta(**time)
        self.wall += step
        self.elapsed += step.total_seconds()


def door(clocks: Clocks, mode: str = "open") -> Door:
    return Door(NONCE, mode, lambda: clocks.wall, lambda: clocks.elapsed)


def head(clocks: Clocks, log: LogState = EMPTY, nonce: str = NONCE, age: timedelta = timedelta(0)) -> GateHead:
    return GateHead(key_id="gate", seq=log.seq, head=log.hash, at=clocks.wall - age, nonce=nonce)


def same(log: LogState) -> object:
    return lambda seq: log.hash if seq == log.seq else FIRST


def test_nothing_is_answered_before_the_gate_has_answered_this_process() -> None:
    clocks = Clocks()
    found = door(clocks)
    assert found.answer(EMPTY).verdict == "waiting"
    found.see(head(clocks, nonce="another process"), EMPTY, same(EMPTY))  # type: ignore[arg-type]
    assert found.answer(EMPTY).verdict == "waiting"
    found.see(head(clocks), EMPTY, same(EMPTY))  # type: ignore[arg-type]
    assert found.answer(EMPTY).verdict == "open"


def test_the_head_must_be_reached_before_anything_is_shown() -> None:
    clocks = Clocks()
    found = door(clocks)
    found.see(head(clocks, AT_TWO), EMPTY, same(EMPTY))  # type: ignore[arg-type]
    assert found.answer(EMPTY).verdict == "waiting"
    found.reached(AT_TWO)
    assert found.answer(AT_TWO).verdict == "open"


def test_a_running_site_may_lag_for_a_moment_only() -> None:
    clocks = Clocks()
    found = door(clocks)
    found.see(head(clocks), EMPTY, same(EMPTY))  # type: ignore[arg-type]
    found.see(head(clocks, AT_TWO, nonce=""), EMPTY, same(EMPTY))  # type: ignore[arg-type]
    assert found.answer(EMPTY).verdict == "open"
    assert found.must_ask
    clocks.pass_(seconds=11)
    assert found.answer(EMPTY).verdict == "waiting"


def test_a_head_that_contradicts_our_log_shuts_for_good() -> None:
    clocks = Clocks()
    found = door(clocks)
    other = replace(AT_TWO, hash=sha256(b"other"))
    found.see(head(clocks, other), AT_TWO, same(AT_TWO))  # type: ignore[arg-type]
    assert found.answer(AT_TWO).verdict == "waiting"
    found.see(head(clocks, AT_TWO), AT_TWO, same(AT_TWO))  # type: ignore[arg-type]
    assert "differ" in found.answer(AT_TWO).reason


def test_a_head_older_than_a_day_shuts() -> None:
    clocks = Clocks()
    found = door(clocks)
    found.see(head(clocks), EMPTY, same(EMPTY))  # type: ignore[arg-type]
    clocks.pass_(hours=23)
    assert found.answer(EMPTY).verdict == "open"
    assert found.must_ask
    clocks.pass_(hours=2)
    assert "24 hours" in found.answer(EMPTY).reason
    found.see(head(clocks, nonce=""), EMPTY, same(EMPTY))  # type: ignore[arg-type]
    assert found.answer(EMPTY).verdict == "open"


def test_a_clock_that_steps_back_neither_shuts_nor_keeps_open() -> None:
    clocks = Clocks()
    found = door(clocks)
    found.see(head(clocks), EMPTY, same(EMPTY))  # type: ignore[arg-type]
    clocks.wall -= timedelta(days=3)
    assert found.answer(EMPTY).verdict == "open"
    clocks.pass_(hours=25)
    assert found.answer(EMPTY).verdict == "waiting"


def test_an_old_head_is_not_made_new_by_coming_late() -> None:
    clocks = Clocks()
    found = door(clocks)
    found.see(head(clocks, age=timedelta(hours=25)), EMPTY, same(EMPTY))  # type: ignore[arg-type]
    assert found.answer(EMPTY).verdict == "waiting"


def test_the_mode_of_the_log_goes_before_that_of_the_installation() -> None:
    clocks = Clocks()
    found = door(clocks, "off")
    found.see(head(clocks), EMPTY, same(EMPTY))  # type: ignore[arg-type]
    assert found.answer(EMPTY).verdict == "shut"
    assert found.answer(replace(EMPTY, mode="open")).verdict == "open"
    assert found.answer(replace(EMPTY, mode="members")).verdict == "members"


def test_a_gate_whose_log_ends_before_ours_had_an_old_backup_put_back() -> None:
    clocks = Clocks()
    found = door(clocks)
    found.asked(AT_TWO)
    before = replace(AT_TWO, seq=1, hash=sha256(b"1"))
    found.see(head(clocks, before), AT_TWO, {1: before.hash, 2: AT_TWO.hash}.get)
    answer = found.answer(AT_TWO)
    assert answer.verdict == "waiting"
    assert "an old backup was put back" in answer.reason
