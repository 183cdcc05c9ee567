"""A card: built from recorded facts; the asker's own words are quoted and never a fact (S5). Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from schemas.outward import Asker, Card, Owner, SecretPlace
from services.connectors.book.domain import Book
from services.connectors.cards.grants import Missing
from shared.markup import invisible

LIFE = timedelta(days=7)
"""Rule 28."""
MOST_WAITING = 100
"""Cards of one asker that may wait: nobody reads more, and nobody is to be worn down by them."""
MOST_QUOTED = 500
MENDED = "\ufffd"


@dataclass(frozen=True)
class Use:
    """What an asker is about to do, as it was planned: nothing of this but `quoted` is the asker's own wording."""

    asker: Asker
    connector: str
    kind: str
    operation: str
    hosts: tuple[str, ...]
    places: tuple[SecretPlace, ...] = ()
    owner: Owner | None = None
    quoted: str = ""


def make_card(card_id: UUID, use: Use, lacking: Missing, book: Book, at: datetime) -> Card:
    """What is missing, with what is recorded about it."""
    return Card(
        card_id=card_id,
        subject=lacking.subject,
        asker=use.asker,
        on_behalf_of=use.owner,
        connector=use.connector,
        kind=use.kind,
        operations=lacking.operations,
        hosts=lacking.hosts,
        secrets=lacking.places,
        facts=tuple(_facts(use, lacking, book)),
        quoted=quote(use.quoted),
        requested_at=at,
        expires_at=at + LIFE,
    )


def _facts(use: Use, lacking: Missing, book: Book) -> Iterator[tuple[str, str]]:
    held = book.connectors.get(use.connector)
    if held is not None:
        yield "Declaration", f"number {held.version}"
    if not lacking.operations:
        yield "Operation", use.operation
    for place in lacking.places:
        secret = book.secrets.get(place)
        if secret is not None:
            yield f"Secret {place}"[:500], f"{secret.type}, version {secret.current}"


def quote(text: str) -> str:
    """One line of at most 500 characters, without anything invisible, without characters that turn its direction, and without controls."""
    line = " ".join("".join(MENDED if _broken(each) else each for each in text[: 4 * MOST_QUOTED]).split())
    hidden = {column for _, column, _ in invisible(line)}
    seen = "".join(each for column, each in enumerate(line, start=1) if column not in hidden)
    return seen if len(seen) <= MOST_QUOTED else f"{seen[: MOST_QUOTED - 1]}…"


def _broken(char: str) -> bool:
    return char == "\x00" or "\ud800" <= char <= "\udfff"
