"""The one place that reads the wall clock."""

from datetime import UTC, datetime


def now() -> datetime:
    """The present time, UTC, with microseconds."""
    return datetime.now(UTC)
