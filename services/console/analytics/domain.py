"""What can be asked, and what an answer says. No framework, no SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal, get_args

from services.console.people.domain import Caller
from shared.errors import Forbidden, Refused

Source = Literal["signals", "calls", "spend"]
Bucket = Literal["all", "minute", "hour", "day", "week", "month"]
Engine = Literal["postgres", "clickhouse"]
Figure = int | Decimal | None

SOURCES: tuple[Source, ...] = get_args(Source)
BUCKETS: tuple[Bucket, ...] = get_args(Bucket)
ENGINES: tuple[Engine, ...] = get_args(Engine)
KINDS = ("view", "vote", "reaction", "feedback", "comment")
BY: Mapping[Source, tuple[str, ...]] = {
    "signals": ("none", "kind", "item", "lang", "page", "referrer", "link"),
    "calls": ("none", "connector", "asker", "operation", "outcome"),
    "spend": ("none", "model", "app", "surface", "owner", "purpose"),
}
MEASURES: Mapping[Source, tuple[str, ...]] = {
    "signals": ("n", "visitors", "value"),
    "calls": ("n", "bad", "milliseconds", "bytes_out", "bytes_in"),
    "spend": ("n", "cost", "unknown", "tokens_in", "tokens_out"),
}
"""`n`: rows. `visitors`: different ones, each for a day. `value`: of votes, added up. `bad`: refused, failed or lost.
`cost`: US dollars of the calls whose cost is known, exact; `unknown`: of how many it is not."""
MOST_ROWS = 5000
LONGEST_REASON = 300
MOST_DAYS = 3660
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""Times outside of these are counted at the border: no visitor was there then."""


@dataclass(frozen=True)
class Question:
    """Rows from `since` up to (and without) `until`, in buckets of UTC (weeks begin on Monday), divided `by` something.

    `kind`, `item`, `lang`: of signals only; empty asks for all. `top`: only so many, the most first (with bucket `all`).
    """

    source: Source
    bucket: Bucket
    by: str
    since: datetime
    until: datetime
    kind: str = ""
    item: str = ""
    lang: str = ""
    top: int = MOST_ROWS

    def to_json(self) -> dict[str, str | int]:
        times = {"since": self.since.isoformat(), "until": self.until.isoformat()}
        return {**self.__dict__, **times}


@dataclass(frozen=True)
class Point:
    """One bucket and key. `at` is None with bucket `all`; `key` is empty where nothing is known or nothing was divided."""

    at: datetime | None
    key: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Cost:
    """What an engine needed, or would need. `measured`: it was really asked; else it is an estimate from earlier questions."""

    engine: Engine
    rows: int | None
    milliseconds: float | None
    measured: bool
    why: str = ""


@dataclass(frozen=True)
class Answer:
    """`matched`: how many rows the figures were made of. `equal`: both engines were asked and said the same (None: one was)."""

    question: Question
    engine: Engine
    reason: str
    points: Sequence[Point]
    matched: int
    more: bool
    cost: Cost
    other: Cost
    equal: bool | None = None
    notes: Sequence[str] = field(default=())


def check_question(
    source: str, bucket: str, by: str, since: datetime, until: datetime, **narrowed: str | int
) -> Question:
    """Refused names what can be asked."""
    known = next((each for each in SOURCES if each == source), None)
    if known is None:
        raise Refused(f"Figures are told of {', '.join(SOURCES)}; not of {source[:40]!r}.", code="source")
    step = next((each for each in BUCKETS if each == bucket), None)
    if step is None:
        raise Refused(f"A bucket is one of {', '.join(BUCKETS)}; not {bucket[:40]!r}.", code="bucket")
    if by not in BY[known]:
        raise Refused(f"{known.capitalize()} are divided by {', '.join(BY[known])}; not by {by[:40]!r}.", code="by")
    if known != "signals" and any(narrowed.get(name) for name in ("kind", "item", "lang")):
        raise Refused("Only signals are narrowed to a kind, an item or a language.", code="narrowed")
    if narrowed.get("kind") and narrowed["kind"] not in KINDS:
        raise Refused(f"A signal is one of {', '.join(KINDS)}.", code="kind")
    _check_times(since, until)
    return Question(known, step, by, since.astimezone(UTC), until.astimezone(UTC), **narrowed)  # type: ignore[arg-type]


def _check_times(since: datetime, until: datetime) -> None:
    if since.tzinfo is None or until.tzinfo is None:
        raise Refused("A time needs its offset, such as 2026-11-30T00:00Z.", code="time")
    if not EARLIEST <= since < until <= LATEST:
        raise Refused(f"A period begins before it ends, within {EARLIEST:%Y} and {LATEST:%Y}.", code="time")
    if until - since > timedelta(days=MOST_DAYS):
        raise Refused(f"A period has at most {MOST_DAYS} days.", code="days")


def check_engine(engine: str, reason: str) -> Engine:
    """Postgres unless somebody says why not (architecture 8)."""
    known = next((each for each in ENGINES if each == engine), None)
    if known is None:
        raise Refused(f"Figures come from {' or '.join(ENGINES)}; not from {engine[:40]!r}.", code="engine")
    if known == "clickhouse" and len(reason.strip()) < 3:
        raise Refused(
            "Postgres is the default. ClickHouse is asked when somebody says why: give a reason in a few words.",
            code="reason",
        )
    if len(reason) > LONGEST_REASON:
        raise Refused(f"A reason has at most {LONGEST_REASON} characters.", code="reason")
    return known


def check_may(caller: Caller, source: Source) -> None:
    """Everybody's calls and spend are for owners and admins; what visitors did, everybody on the staff may see."""
    caller.require("read")
    if source != "signals" and not caller.may("switch"):
        raise Forbidden(f"A {caller.role} sees what visitors did; everybody's {source} are for owners and admins.")


def within(at: datetime) -> datetime:
    """A signal's time as it is counted."""
    return min(max(at.astimezone(UTC), EARLIEST), LATEST)
