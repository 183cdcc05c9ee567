"""What a person may want of a secret, and when its time runs out. Pure; the connectors check again and decide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import quote

from schemas.outward import SecretPlace, SecretType
from schemas.text import text_fault
from shared.errors import NotFound, Refused

Action = Literal["put", "rotate", "restore", "revoke", "narrow"]
ACTIONS: tuple[Action, ...] = get_args(Action)
NEW_VERSION: tuple[Action, ...] = ("put", "rotate")
MAX_REASON, MOST_OPERATIONS = 500, 50
MOST_OVERLAP = timedelta(days=7)
WARN_BEFORE = (timedelta(days=14), timedelta(days=3), timedelta(0))
"""When owners and admins are told that a secret's time runs out, and that it has."""


@dataclass(frozen=True)
class Change:
    """What is asked for. `seen`: the number of changes that the person had in front of them; None: not compared.

    `sealed` and `public` come with a new version, `type` with the first one. `version`: what to restore or revoke (0: the whole secret).
    """

    place: SecretPlace
    action: Action
    reason: str = ""
    type: SecretType | None = None
    sealed: bytes | None = field(default=None, repr=False)
    public: Mapping[str, str] = field(default_factory=dict)
    operations: tuple[str, ...] = ()
    version: int = 0
    overlap: timedelta | None = None
    expires_at: datetime | None = None
    seen: int | None = None


class Warned(NamedTuple):
    """A secret whose time runs out: `stage` is how soon, as it is remembered."""

    place: str
    stage: str
    text: str


def check_change(change: Change, at: datetime, *, why: bool) -> str:
    """The reason as it is kept. Refused when times, operations or the reason are off; `why`: one is needed."""
    if (change.sealed is None) == (change.action in NEW_VERSION):
        raise Refused("A new version needs its value, and nothing else does.", code="value")
    if change.expires_at is not None and change.expires_at <= at:
        raise Refused("The secret would have expired already; name a later day.", code="expires")
    if change.overlap is not None and not timedelta(0) <= change.overlap <= MOST_OVERLAP:
        raise Refused(f"The version before stays usable for at most {MOST_OVERLAP.days} days.", code="overlap")
    if change.action == "narrow" and not change.operations:
        raise Refused(
            "Name the operations that it may still be used for; to end its use, revoke it.", code="operations"
        )
    clean = " ".join(change.reason.split())
    if (why and not clean) or len(clean) > MAX_REASON or text_fault(clean):
        raise Refused(f"A reason has 1 to {MAX_REASON} characters.", code="reason")
    return clean


def read_operations(text: str) -> tuple[str, ...]:
    """Names apart by commas, spaces or lines; each once."""
    found = tuple(dict.fromkeys(text.replace(",", " ").split()))
    if len(found) > MOST_OPERATIONS or any(len(each) > 100 or not each.isprintable() for each in found):
        raise Refused(f"At most {MOST_OPERATIONS} operations, each of at most 100 characters.", code="operations")
    return found


def next_number(change: Change, held: Mapping[str, Any] | None) -> int:
    """The version that the statement is about. NotFound when there is nothing to change."""
    if held is None and change.action != "put":
        raise NotFound(f"There is no secret {change.place}.", code="secret_unknown")
    if change.action in NEW_VERSION:
        return 1 + max((each["version"] for each in held["versions"]), default=0) if held else 1
    return change.version


def page_of(place: SecretPlace | str) -> str:
    """The path of its page."""
    return f"/secrets/at/{quote(str(place), safe='/:@')}"


def expiry_of(versions: Sequence[Mapping[str, Any]], current: int) -> datetime | None:
    """When the version in use expires; None: never, or none is in use."""
    text = next((each["expires_at"] for each in versions if each["version"] == current), None)
    return datetime.fromisoformat(text) if text else None


def warn(place: str, expires_at: datetime, at: datetime) -> Warned | None:
    """What to tell now, or None while there is time."""
    left = expires_at - at
    due = [each for each in WARN_BEFORE if left <= each]
    if not due:
        return None
    day, days = f"{expires_at.day} {expires_at:%b %Y}", max(1, round(left / timedelta(days=1)))
    stage = f"{min(due).days}@{expires_at.isoformat()}"
    if left <= timedelta(0):
        return Warned(place, stage, f"Secret {place} expired on {day}: calls with it are refused until it is rotated")
    return Warned(place, stage, f"Secret {place} expires in {days} day{'' if days == 1 else 's'}, on {day}; rotate it")
