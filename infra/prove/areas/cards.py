"""Area cards: who may say what about connectors and cards, that every word that counts was signed, and that a card says recorded facts (S5, rule 28)."""

from infra.prove.areas.card_forgeries import forged, nowhere
from infra.prove.areas.card_rows import check_cards, check_statements
from infra.prove.areas.decisions import try_forged
from infra.prove.check import Book, Check
from infra.prove.forge import Forger
from infra.prove.target import Attempt, Target
from infra.prove.traces import forget
from schemas.catalogue import SURFACES
from shared.settings import DATABASES

WORDS = ("card.decided", "connector.declared")
FACTS = ("card.requested", "card.settled", "connector.applied")
_LEFT = "SELECT subject FROM core.statements WHERE nonce = $1"
SECONDS = 15.0


async def check(target: Target) -> list[Check]:
    book = Book("cards")
    await check_senders(target, book)
    await check_statements(target, book)
    await check_cards(target, book)
    try:
        await check_forged(target, book)
    finally:
        await forget(target, "bridge", "c")
    return book.checks


async def check_senders(target: Target, book: Book) -> None:
    """A person's word is the console's, what became of it the connectors'; nobody else's account may say either, on whatever subject."""
    for service in SURFACES:
        words = [] if service == "console" else [each for name in WORDS for each in (f"from.console.{name}", f"from.{service}.{name}")]  # fmt: skip
        facts = [] if service == "connectors" else [f"from.connectors.{name}" for name in FACTS]
        onward = [*(f"to.connectors.{name}" for name in WORDS), *(f"to.console.{name}" for name in FACTS)]
        tried: list[Attempt] = [
            {"kind": "bus", "as": service, "op": "publish", "subjects": [subject], "payload": "{}"}
            for subject in (*words, *facts, *onward)
        ]
        for each, outcome in zip(tried, await target.run(service, tried), strict=True):
            book.outcome(service, f"publish {each['subjects'][0]}", outcome)


async def check_forged(target: Target, book: Book) -> None:
    """Nothing of it is kept; a well-signed word about what there is not passes the lock and is refused by the connectors."""
    forger = Forger.of(target)
    await try_forged(target, book, await forged(target, forger), "c")
    await nowhere(target, book, forger, SECONDS)
    kept: Attempt = {
        "kind": "rows", "role": "connectors", "database": DATABASES["connectors"], "query": _LEFT, "args": [forger.token],
    }  # fmt: skip
    (outcome,) = await target.run("connectors", [kept])
    book.holds(
        "connectors",
        "none of it is a statement that the connectors keep",
        ", ".join(row[0] for row in outcome["value"]),
    )
