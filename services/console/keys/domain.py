"""The life of a decision key, as the console knows it.

    offered -> recorded -> revoking -> revoked
            -> refused     (the lock said no)

`recorded`: the lock accepts its signatures. One of the recorded keys signs; which one is a row of its own, moved in one step.
"""

from datetime import datetime
from typing import Literal, NamedTuple

from schemas.text import text_fault
from shared.errors import Conflict, Refused

State = Literal["offered", "recorded", "refused", "revoking", "revoked"]
DEAD: tuple[State, ...] = ("refused", "revoked")
"""Nothing will be signed by these again; their files are deleted."""
MAX_REASON = 500


class Held(NamedTuple):
    """Which key signs, which one waits to, and whether the old one is to be revoked then."""

    key_id: str
    next_key_id: str | None
    revoke_old: bool


class Key(NamedTuple):
    """`refusal`: why the lock said no to the newest change."""

    key_id: str
    public_key: str
    state: State
    refusal: str | None
    at: datetime


def check_free(held: Held) -> None:
    """One rotation at a time."""
    if held.next_key_id is not None:
        raise Conflict(f"key {held.next_key_id} waits for the lock's answer; nothing was changed", code="rotating")


def check_revocable(key: Key, held: Held) -> None:
    """Refused or Conflict when this key cannot be revoked now."""
    if key.key_id == held.key_id:
        raise Refused(f"key {key.key_id} is the one that signs; rotate first, then revoke it", code="signing_key")
    if key.key_id == held.next_key_id:
        raise Conflict(f"key {key.key_id} waits for the lock's answer and signs next", code="rotating")
    if key.state != "recorded":
        raise Conflict(f"key {key.key_id} is {key.state} already; nothing was changed", code=key.state)


def check_why(reason: str) -> str:
    clean = " ".join(reason.split())
    if len(clean) > MAX_REASON or text_fault(clean):
        raise Refused(f"a reason has at most {MAX_REASON} characters", code="reason")
    return clean


def shown_state(key: Key, held: Held) -> str:
    """What a person reads: `signing` and `retired` (its signatures still count) tell the recorded keys apart."""
    if key.state != "recorded":
        return key.state
    return "signing" if key.key_id == held.key_id else "retired"
