"""Action cards as people see and decide them. No framework."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol, get_args

from schemas.agency import AUTOMATE, ActionCard
from schemas.text import canonical, parse_json
from services.console.connectors.domain import check_free
from services.console.people.domain import Caller
from shared.errors import Conflict, Forbidden, NotFound, Refused

Verdict = Literal["allow", "refuse"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
LONGEST_GIST = 120
"""Characters of each part."""
FIRST = ("instruction", "words", "zone", "next", "account", "to", "cc", "bcc", "subject", "text")
STATES = ("pending", "allowed", "done", "failed", "refused", "expired", "revoked")


class Row(Protocol):
    """A row of the database."""

    def __getitem__(self, name: str, /) -> Any: ...


@dataclass(frozen=True)
class Shown:
    """A card with its state. `row`: state, reason and settled_at, and the newest decision (verdict, by_name, why, decided_at, outcome, outcome_reason)."""

    card: ActionCard
    hash: str
    state: str
    row: Row

    @property
    def title(self) -> str:
        if self.is_automation:
            return f"The agent asks for an automation for {self.card.owner_name}"
        return f"The agent wants to run {self.card.tool} for {self.card.owner_name}"

    @property
    def is_automation(self) -> bool:
        return self.card.tool == AUTOMATE

    @property
    def is_pending(self) -> bool:
        return self.state == "pending" and not self.on_its_way

    @property
    def on_its_way(self) -> str:
        """The verdict that the agent has not answered yet, or nothing."""
        return str(self.row["verdict"]) if self.row["outcome"] == "sent" else ""

    @property
    def gist(self) -> str:
        """Of an automation what it does and when, cut; of anything else the name that it is about, or nothing: so that two cards in a list can be told apart."""
        given = parse_json(self.card.arguments.encode())
        names = ("instruction", "words") if self.is_automation else ("name",)
        said = (" ".join(given[each].split()) for each in names if isinstance(given.get(each), str))
        return " – ".join(each if len(each) <= LONGEST_GIST else f"{each[:LONGEST_GIST]}…" for each in said if each)

    @property
    def arguments(self) -> Iterator[tuple[str, str]]:
        """Each argument as it will be used: text as it is, anything else as JSON. First what it does and when, or to whom which words go; what is empty last."""
        given = parse_json(self.card.arguments.encode())
        place = {name: at for at, name in enumerate(FIRST)}
        for name, value in sorted(
            given.items(), key=lambda each: (each[1] in ("", []), place.get(each[0], len(FIRST)))
        ):
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def read_action(row: Row, present: datetime) -> Shown:
    """From its stored bytes: what is shown is what a decision signs the hash of."""
    card = ActionCard.model_validate(parse_json(row["card"]))
    state = row["state"] or ("pending" if present < card.expires_at else "expired")
    return Shown(card, card.hash, state, row)


def bytes_of(card: ActionCard) -> bytes:
    return canonical(card.model_dump(mode="json"))


def may_decide(caller: Caller, card: ActionCard) -> bool:
    """Owners and admins; whoever it is about, too, when it touches nothing but their own things."""
    return caller.may("connectors") or (card.own and is_mine(caller, card))


def is_mine(caller: Caller, card: ActionCard) -> bool:
    return card.owner.kind == "user" and card.owner.id == caller.id


def check_may_see(caller: Caller, card: ActionCard) -> None:
    """Somebody else's card looks like one that does not exist (rule 24)."""
    if not (caller.may("connectors") or is_mine(caller, card)):
        raise NotFound("There is no such card.")


def check_may_decide(caller: Caller, card: ActionCard) -> None:
    check_may_see(caller, card)
    if not may_decide(caller, card):
        raise Forbidden("This reaches beyond your own things; that takes an owner or admin.")


def check_verdict(verdict: str) -> Verdict:
    for known in VERDICTS:
        if verdict == known:
            return known
    raise Refused(f"An action card is decided with one of {', '.join(VERDICTS)}.", code="verdict")


def check_undecided(shown: Shown, seen: str | None, present: datetime) -> None:
    """Conflict when it was decided, or is not what was seen: `seen` is the hash that the page showed."""
    check_free(_newest(shown.row), "this card", present)
    if seen is not None and seen != shown.hash:
        raise Conflict("The card does not say any more what you were shown. Nothing was changed.")
    if shown.state != "pending" or shown.row["outcome"] == "applied":
        by = f" by {shown.row['by_name']}" if shown.row["by_name"] and shown.state != "expired" else ""
        raise Conflict(f"The card is {shown.state} already{by}. Nothing was changed.", code="decided")


def _newest(row: Row) -> Mapping[str, Any] | None:
    """The newest decision, if there is one."""
    return {name: row[name] for name in ("by_name", "outcome", "at")} if row["outcome"] else None
