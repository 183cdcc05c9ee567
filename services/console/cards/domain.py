"""Cards as people see and decide them. No framework."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from schemas.outward import Card
from schemas.text import parse_json, text_fault
from services.console.connectors.domain import check_free
from shared.errors import Conflict, Refused

Verdict = Literal["allow", "refuse", "revoke"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
STATES = ("pending", "allowed", "refused", "revoked", "expired")
MAX_REASON = 500
_NEEDS: dict[Verdict, tuple[str, ...]] = {
    "allow": ("pending",),
    "refuse": ("pending",),
    "revoke": ("allowed", "refused"),
}
_ASKS = {
    "use": "wants to use {connector} for the first time",
    "host": "wants to reach another host through {connector}",
    "secret": "wants to use another secret with {connector}",
    "operation": "wants to do something else with {connector}",
}


@dataclass(frozen=True)
class Shown:
    """A card with its state. `row`: state, settled_at, and the newest decision (by_name, reason, decided_at, outcome, outcome_reason)."""

    card: Card
    hash: str
    state: str
    row: Mapping[Any, Any]

    @property
    def title(self) -> str:
        return f"{self.card.asker} {_ASKS[self.card.subject].format(connector=self.card.connector)}"

    @property
    def is_pending(self) -> bool:
        return self.state == "pending"

    @property
    def on_its_way(self) -> str:
        """The verdict that nobody has answered yet, or nothing."""
        return str(self.row["verdict"]) if self.row["outcome"] == "sent" else ""


def read_card(row: Mapping[Any, Any], present: datetime) -> Shown:
    """From its stored bytes: what is shown is what a decision signs the hash of."""
    card = Card.model_validate(parse_json(row["card"]))
    state = row["state"] or ("pending" if present < card.expires_at else "expired")
    return Shown(card, card.hash, state, row)


def check_verdict(verdict: str) -> Verdict:
    for known in VERDICTS:
        if verdict == known:
            return known
    raise Refused(f"A card is decided with one of {', '.join(VERDICTS)}.", code="verdict")


def check_reason(verdict: Verdict, reason: str) -> str:
    """On one line. Whoever is told no learns why; allowing needs no word."""
    clean = " ".join(reason.split())
    if len(clean) > MAX_REASON or text_fault(clean):
        raise Refused(f"A reason has at most {MAX_REASON} characters.", code="reason")
    if not clean and verdict != "allow":
        raise Refused(f"To {verdict} takes a reason; it is kept.", code="reason")
    return clean


def check_decidable(shown: Shown, verdict: Verdict, seen: str | None, present: datetime) -> None:
    """Conflict when it was decided, or is not what was seen: `seen` is the hash that the page showed."""
    check_free(shown.row if shown.row["outcome"] else None, "this card", present)
    if seen is not None and seen != shown.hash:
        raise Conflict("The card does not say any more what you were shown. Nothing was changed.")
    if shown.state not in _NEEDS[verdict]:
        by = f" by {shown.row['by_name']}" if shown.row["by_name"] and shown.state != "expired" else ""
        raise Conflict(f"The card is {shown.state} already{by}. Nothing was changed.", code="decided")
