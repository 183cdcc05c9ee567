"""Automations as people see them, and take them back. No framework."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from schemas.agency import AUTOMATE, ActionCard
from schemas.text import BadJson, parse_json, sha256
from services.console.actions.domain import Row, is_mine
from services.console.connectors.domain import check_free
from services.console.people.domain import Caller
from shared.errors import Conflict, NotFound, Refused

STATES = ("active", "paused", "ended")


@dataclass(frozen=True)
class Shown:
    """An automation by its card. `row`: how the agent says that it stands (state, reason, zone, next_at), who allowed it when, and what was decided last."""

    card: ActionCard
    hash: str
    row: Row

    @property
    def state(self) -> str:
        return str(self.row["state"])

    @property
    def title(self) -> str:
        return self._said("title")

    @property
    def words(self) -> str:
        return self._said("words") or self._said("when")

    @property
    def instruction(self) -> str:
        return self._said("instruction")

    @property
    def on_its_way(self) -> bool:
        """Somebody has taken it back, and the agent has not said yet that it has ended."""
        return bool(self.row["verdict"] == "revoke" and self.row["outcome"] != "refused" and self.state != "ended")

    @property
    def can_be_revoked(self) -> bool:
        return self.state != "ended" and not self.on_its_way

    def _said(self, name: str) -> str:
        return str(_arguments(self.card).get(name) or "")


def read_automation(row: Row) -> Shown:
    card = ActionCard.model_validate(parse_json(row["card"]))
    return Shown(card, card.hash, row)


def is_automation(card: ActionCard) -> bool:
    return card.tool == AUTOMATE


def instruction_hash(card: ActionCard) -> str | None:
    """Of what the card says is to be done: what the delegation is bound to. None for what is no automation's card."""
    said = _arguments(card).get("instruction")
    return sha256(said.encode()) if is_automation(card) and isinstance(said, str) else None


def _arguments(card: ActionCard) -> Mapping[str, Any]:
    try:
        found = parse_json(card.arguments.encode())
    except BadJson:
        return {}
    return found if isinstance(found, dict) else {}


def may_revoke(caller: Caller, card: ActionCard) -> bool:
    """Owners and admins, and whoever it works for."""
    return caller.may("connectors") or is_mine(caller, card)


def check_revocable(caller: Caller, card: ActionCard, row: Row, present: datetime) -> None:
    """Somebody else's looks like one that does not exist (rule 24). Conflict when it runs no more, or somebody was first."""
    if not may_revoke(caller, card):
        raise NotFound("There is no such automation.")
    if not is_automation(card):
        raise Refused("Only an automation can be taken back; what was done once cannot.", code="revoke")
    if row["outcome"]:
        check_free({name: row[name] for name in ("by_name", "outcome", "at")}, "this automation", present)
    if row["state"] == "revoked" or (row["verdict"] == "revoke" and row["outcome"] == "applied"):
        raise Conflict(f"It was taken back already by {row['by_name']}. Nothing was changed.", code="decided")
    if row["state"] != "done":
        raise Conflict("Only an automation that was allowed can be taken back. Nothing was changed.", code="decided")
