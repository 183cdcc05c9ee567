"""What people have granted, and what is missing for a call (rule 28). Pure: read from the book, which holds signed statements alone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from schemas.outward import SecretPlace
from services.connectors.book.domain import Book, Decided, Secret
from services.connectors.egress.hosts import permits

Subject = Literal["use", "host", "secret", "operation"]


@dataclass(frozen=True)
class Missing:
    """What nobody has allowed yet. `subject`: what a person would call it, the widest first."""

    subject: Subject
    operations: tuple[str, ...]
    hosts: tuple[str, ...]
    places: tuple[SecretPlace, ...]

    def lies_in(self, decided: Decided) -> bool:
        """Whether the card asks for all of it."""
        card = decided.card
        return (
            set(self.operations) <= set(card.operations)
            and set(self.hosts) <= set(card.hosts)
            and set(self.places) <= set(card.secrets)
        )

    def meets(self, decided: Decided) -> bool:
        """Whether the card asks for any of it."""
        card = decided.card
        return bool(
            set(self.operations) & set(card.operations)
            or set(self.hosts) & set(card.hosts)
            or set(self.places) & set(card.secrets)
        )


def missing(
    book: Book,
    asker: str,
    connector: str,
    operation: str,
    hosts: Iterable[str],
    places: Iterable[SecretPlace],
    at: datetime,
) -> Missing | None:
    """None: everything is granted. Each thing is granted on its own, by any card of this asker and connector that is allowed and not revoked."""
    granted = list(of(book, asker, connector, at, "allowed"))
    operations = () if any(operation in each.card.operations for each in granted) else (operation,)
    reachable = [host for each in granted for host in each.card.hosts]
    usable = {place for each in granted for place in each.card.secrets if _is_about(each, book.secrets.get(place))}
    new_hosts = tuple(host for host in dict.fromkeys(hosts) if not permits(reachable, host))
    new_places = tuple(place for place in dict.fromkeys(places) if place not in usable)
    if not (operations or new_hosts or new_places):
        return None
    return Missing(_subject(bool(granted), new_hosts, new_places), operations, new_hosts, new_places)


def of(book: Book, asker: str, connector: str, at: datetime, state: str) -> Iterator[Decided]:
    """The cards of this asker and connector that are in this state."""
    for each in book.uses.get((asker, connector), {}).values():
        if each.state(at) == state:
            yield each


def _is_about(decided: Decided, secret: Secret | None) -> bool:
    """Whether it was decided on this credential, and not on one that lay in the same place and was revoked."""
    return secret is None or decided.at is None or decided.at >= secret.since


def refused(book: Book, asker: str, connector: str, lacking: Missing, at: datetime) -> Decided | None:
    """The newest card on which a person said no to any of it: it is not asked again until that is revoked."""
    found = [each for each in of(book, asker, connector, at, "refused") if lacking.meets(each)]
    return max(found, key=lambda each: each.card.requested_at, default=None)


def pending(book: Book, asker: str, connector: str, lacking: Missing, at: datetime) -> Decided | None:
    """The card that waits for a person and asks for all of it."""
    found = (each for each in of(book, asker, connector, at, "pending") if lacking.lies_in(each))
    return next(found, None)


def waiting(book: Book, asker: str, at: datetime) -> int:
    """How many cards of this asker wait."""
    return sum(each.card.asker == asker and each.state(at) == "pending" for each in book.cards.values())


def _subject(known: bool, hosts: tuple[str, ...], places: tuple[SecretPlace, ...]) -> Subject:
    if not known:
        return "use"
    if hosts:
        return "host"
    return "secret" if places else "operation"
