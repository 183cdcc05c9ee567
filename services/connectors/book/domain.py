"""What counts of everything that people decided: connectors, secrets, cards. Pure; every change is first checked, then entered.

The book is in memory and made from verified statements alone, in the order in which they came. A row that somebody changes by hand
changes nothing: its signature does not hold any more, and the connectors refuse to start.
"""

import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from schemas.agency import ActionDecision
from schemas.outward import Card, CardDecision, ConnectorSetting, SecretChange, SecretPlace, SecretType
from shared.errors import Conflict, NotFound, Refused

MOST_OVERLAP = timedelta(days=7)
CardState = Literal["pending", "allowed", "refused", "revoked", "expired"]


@dataclass(frozen=True)
class Connector:
    """A declared connector. `settings` is the kind's own JSON; `version` counts its declarations."""

    name: str
    kind: str
    settings: dict[str, Any]
    enabled: bool
    version: int
    statement_hash: str
    decided_at: datetime


@dataclass(frozen=True)
class Version:
    """One sealed value. `usable_until`: it was replaced, and opens until then. `public`: what may be shown of it."""

    number: int
    sealed_hash: str
    put_at: datetime
    expires_at: datetime | None = None
    usable_until: datetime | None = None
    revoked: bool = False
    public: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Secret:
    """`public`: of the version in use. `current` is the number of the version in use, 0 when there is none. `changes` counts the statements about it.

    `since`: when it was put. One that is put again after a revocation is another credential, and wants a card of its own (rule 28).
    """

    place: SecretPlace
    type: SecretType
    public: dict[str, str]
    operations: tuple[str, ...]
    versions: tuple[Version, ...]
    current: int
    changes: int
    statement_hash: str
    since: datetime

    @property
    def revoked(self) -> bool:
        return self.current == 0

    def version(self, number: int) -> Version | None:
        return next((each for each in self.versions if each.number == number), None)

    def usable(self, at: datetime) -> tuple[Version, ...]:
        """The versions that open now: the current one first, then what it replaced while they overlap. Expired and revoked ones do not."""
        listed = sorted(self.versions, key=lambda each: (each.number != self.current, -each.number))
        return tuple(
            each
            for each in listed
            if not each.revoked
            and (each.expires_at is None or at < each.expires_at)
            and (each.number == self.current or (each.usable_until is not None and at < each.usable_until))
        )


@dataclass(frozen=True)
class Decided:
    """A card, and what became of it. `changes` counts the statements about it."""

    card: Card
    verdict: Literal["allow", "refuse", "revoke"] | None = None
    at: datetime | None = None
    by: str = ""
    statement_hash: str = ""
    changes: int = 0

    def state(self, at: datetime) -> CardState:
        if self.verdict is None:
            return "pending" if at < self.card.expires_at else "expired"
        return {"allow": "allowed", "refuse": "refused", "revoke": "revoked"}[self.verdict]  # type: ignore[return-value]


@dataclass
class Book:
    """`actions`: what people decided on the agent's own cards, whose words stay there; a delegation for one holds as long as it is allowed (S10).
    `position` is that of the newest statement in it; `uses`: the cards again, by asker and connector, since that is asked before every call.

    `restored_at`: the installation came from a backup then. What people took back since the backup was made is not in it, so every
    connector stays shut until somebody has looked and turns it on anew.
    """

    connectors: dict[str, Connector] = field(default_factory=dict)
    secrets: dict[SecretPlace, Secret] = field(default_factory=dict)
    cards: dict[UUID, Decided] = field(default_factory=dict)
    actions: dict[UUID, Literal["allow", "refuse", "revoke"]] = field(default_factory=dict)
    position: int = 0
    uses: dict[tuple[str, str], dict[UUID, Decided]] = field(default_factory=dict)
    restored_at: datetime | None = None

    def copy(self) -> "Book":
        uses = {use: dict(held) for use, held in self.uses.items()}
        return Book(
            dict(self.connectors), dict(self.secrets), dict(self.cards), dict(self.actions), self.position, uses, self.restored_at
        )  # fmt: skip

    def allows(self, card_id: UUID, at: datetime) -> bool:
        """Whether a person has allowed what that card says, here or at the agent, and nobody has taken it back."""
        card = self.cards.get(card_id)
        return self.actions.get(card_id) == "allow" if card is None else card.state(at) == "allowed"

    def is_on(self, connector: Connector) -> bool:
        return connector.enabled and (self.restored_at is None or connector.decided_at > self.restored_at)

    def check_setting(self, setting: ConnectorSetting) -> None:
        """Conflict when it was declared anew since; Refused when its kind would change."""
        held = self.connectors.get(setting.name)
        _same(setting.prior_version, held.version if held else 0, f"connector {setting.name}")
        if held is not None and held.kind != setting.kind:
            raise Refused(f"connector {setting.name} is of kind {held.kind}; declare another one for {setting.kind}")

    def enter_setting(self, setting: ConnectorSetting, statement_hash: str) -> Connector:
        made = Connector(
            setting.name,
            setting.kind,
            json.loads(setting.settings),
            setting.enabled,
            setting.prior_version + 1,
            statement_hash,
            setting.decided_at,
        )
        self.connectors[setting.name] = made
        return made

    def check_secret(self, change: SecretChange) -> None:
        """Refused, Conflict or NotFound, with what to do instead."""
        held = self.secrets.get(change.place)
        _same(change.prior_version, held.changes if held else 0, f"secret {change.place}")
        if change.action == "put":
            _check_put(change, held)
            return
        if held is None or held.revoked:
            raise NotFound(f"there is no secret {change.place} in use; put one there first")
        _CHECKS[change.action](change, held)

    def enter_secret(self, change: SecretChange, statement_hash: str) -> Secret:
        held = self.secrets.get(change.place)
        made = _first(change) if held is None else _ENTER[change.action](change, held)
        made = replace(made, changes=change.prior_version + 1, statement_hash=statement_hash)
        self.secrets[change.place] = made
        return made

    def enter_card(self, card: Card) -> None:
        if card.card_id not in self.cards:
            self._keep(Decided(card))

    def check_decision(self, decision: CardDecision, at: datetime) -> None:
        """A decision is given once, on exactly what the card says, in its time; it can be revoked once."""
        held = self.cards.get(decision.card_id)
        if held is None:
            raise NotFound(f"there is no card {decision.card_id}")
        if held.card.hash != decision.card_hash:
            raise Refused(f"card {decision.card_id} does not say what was decided on", code="card_hash")
        state = held.state(at)
        wanted = ("allowed", "refused") if decision.verdict == "revoke" else ("pending",)
        if state not in wanted:
            raise Conflict(f"card {decision.card_id} is {state} already; nothing was changed")

    def enter_decision(self, decision: CardDecision, by: str, statement_hash: str) -> Decided:
        held = self.cards[decision.card_id]
        made = Decided(held.card, decision.verdict, decision.decided_at, by, statement_hash, held.changes + 1)
        self._keep(made)
        return made

    def check_action(self, decision: ActionDecision) -> None:
        """Allowed or refused once, and what was allowed is taken back once; Conflict for anything else."""
        held = self.actions.get(decision.card_id)
        if held != ("allow" if decision.verdict == "revoke" else None):
            raise Conflict(f"action card {decision.card_id} is decided already ({held}); nothing was changed")

    def enter_action(self, decision: ActionDecision) -> None:
        self.actions[decision.card_id] = decision.verdict

    def _keep(self, decided: Decided) -> None:
        card = decided.card
        self.cards[card.card_id] = decided
        self.uses.setdefault((card.asker, card.connector), {})[card.card_id] = decided


def _same(prior: int, held: int, what: str) -> None:
    if prior != held:
        raise Conflict(
            f"{what} was changed by somebody else meanwhile ({held} changes, not {prior}); nothing was changed"
        )


def _check_put(change: SecretChange, held: Secret | None) -> None:
    if held is not None and not held.revoked:
        raise Conflict(f"there is a secret {change.place} already; rotate it to replace its value")
    _check_new(change, 1 + max((each.number for each in held.versions), default=0) if held else 1)


def _check_new(change: SecretChange, number: int) -> None:
    if change.sealed_hash is None or change.version != number:
        raise Refused(f"the next version of {change.place} is {number}, with its sealed value")


def _check_rotate(change: SecretChange, held: Secret) -> None:
    _check_new(change, 1 + max(each.number for each in held.versions))
    if change.type != held.type:
        raise Refused(f"{change.place} is of type {held.type}; put another secret for {change.type}")
    _check_overlap(change)


def _check_overlap(change: SecretChange) -> None:
    if change.overlap_until is not None and change.overlap_until > change.decided_at + MOST_OVERLAP:
        raise Refused(f"versions overlap for at most {MOST_OVERLAP.days} days")


def _check_restore(change: SecretChange, held: Secret) -> None:
    wanted = held.version(change.version)
    if wanted is None or wanted.revoked or wanted.number == held.current:
        able = [each.number for each in held.versions if not each.revoked and each.number != held.current]
        raise Refused(f"{change.place} has no version {change.version} to restore; there are: {able or 'none'}")
    _check_overlap(change)


def _check_revoke(change: SecretChange, held: Secret) -> None:
    if change.version and held.version(change.version) is None:
        raise NotFound(f"{change.place} has no version {change.version}")
    if change.version == held.current:
        raise Refused(
            f"version {change.version} of {change.place} is in use; rotate or restore first, or revoke the whole secret"
        )


def _check_narrow(change: SecretChange, held: Secret) -> None:
    if not change.operations or (held.operations and not set(change.operations) <= set(held.operations)):
        raise Refused(f"{change.place} can be narrowed to some of its operations, not widened; put it anew for more")


_CHECKS = {"rotate": _check_rotate, "restore": _check_restore, "revoke": _check_revoke, "narrow": _check_narrow}


def _new_version(change: SecretChange) -> Version:
    assert change.sealed_hash is not None, "checked"
    return Version(change.version, change.sealed_hash, change.decided_at, change.expires_at, public=dict(change.public))


def _first(change: SecretChange) -> Secret:
    versions, operations = (_new_version(change),), change.operations
    public, since = dict(change.public), change.decided_at
    return Secret(change.place, change.type, public, operations, versions, change.version, 0, "", since)


def _put_again(change: SecretChange, held: Secret) -> Secret:
    made = _first(change)
    return replace(made, versions=(*held.versions, *made.versions))


def _rotate(change: SecretChange, held: Secret) -> Secret:
    until = change.overlap_until or change.decided_at
    versions = tuple(
        replace(each, usable_until=until) if each.number == held.current else each for each in held.versions
    )
    new = _new_version(change)
    return replace(held, versions=(*versions, new), current=change.version, public=new.public)


def _restore(change: SecretChange, held: Secret) -> Secret:
    versions = tuple(
        replace(each, usable_until=None if each.number == change.version else change.overlap_until or change.decided_at)
        if each.number in (change.version, held.current)
        else each
        for each in held.versions
    )
    public = next(each.public for each in versions if each.number == change.version)
    return replace(held, versions=versions, current=change.version, public=public)


def _revoke(change: SecretChange, held: Secret) -> Secret:
    gone = {change.version} if change.version else {each.number for each in held.versions}
    versions = tuple(replace(each, revoked=True) if each.number in gone else each for each in held.versions)
    return replace(held, versions=versions, current=held.current if change.version else 0)


def _narrow(change: SecretChange, held: Secret) -> Secret:
    return replace(held, operations=change.operations)


_ENTER = {"put": _put_again, "rotate": _rotate, "restore": _restore, "revoke": _revoke, "narrow": _narrow}
