"""Times that a reviewer gives: when an approved revision becomes public, and until when."""

import re
from datetime import UTC, datetime, timedelta

from shared.errors import Refused

FURTHEST = timedelta(days=5 * 365)
"""A time that lies further ahead is taken for a slip of the hand."""
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?([Zz]|[+-]\d\d:\d\d)?")


def read_time(text: str) -> datetime:
    """RFC 3339, or `YYYY-MM-DDTHH:MM` taken as UTC. Refused for anything else."""
    clean = text.strip()
    try:
        found = datetime.fromisoformat(clean.upper()) if _TIME.fullmatch(clean) else None
        if found is not None:
            return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Refused(
        f"{clean[:40]!r} is no time; write 2026-12-01T08:00 (taken as UTC) or 2026-12-01T08:00:00+01:00.", code="time"
    )


def check_times(verdict: str, publish_at: datetime | None, expire_at: datetime | None, present: datetime) -> None:
    """Only an approval can have times; they lie ahead, not too far, and the end comes after the beginning."""
    if (publish_at or expire_at) and verdict != "approve":
        raise Refused("Only an approval can be given a time.", code="time")
    if publish_at is not None:
        _check_ahead(publish_at, present, "To publish at once, approve without a time.")
    if expire_at is not None:
        _check_ahead(expire_at, present, "To leave it public, give no time at which it ends.")
        if publish_at is not None and expire_at <= publish_at:
            raise Refused(
                f"It would be taken down at {expire_at:%Y-%m-%d %H:%M} UTC, before it is published at"
                f" {publish_at:%Y-%m-%d %H:%M} UTC.",
                code="time",
            )


def _check_ahead(at: datetime, present: datetime, otherwise: str) -> None:
    if at <= present:
        raise Refused(
            f"{at:%Y-%m-%d %H:%M} UTC lies in the past; it is {present:%Y-%m-%d %H:%M} UTC. {otherwise}", code="time"
        )
    if at > present + FURTHEST:
        raise Refused(f"{at:%Y-%m-%d %H:%M} UTC is more than 5 years ahead. {otherwise}", code="time")
