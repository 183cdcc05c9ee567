"""The protected tables are what the code declares: columns, constraints, indexes, triggers, functions, privileges."""

from infra.prove.check import Book
from infra.prove.target import Target
from shared.settings import DATABASES


async def check_definitions(target: Target, book: Book) -> None:
    outcomes = await target.run("pgadm", [{"kind": "reference", "service": service} for service in DATABASES])
    for service, outcome in zip(DATABASES, outcomes, strict=True):
        if outcome["got"] != "done":
            book.holds("definition", f"{DATABASES[service]}: comparing core with its declaration", outcome["detail"])
        for says, expected, got in outcome["value"]:
            same = expected == got
            book.holds(
                "definition",
                f"{DATABASES[service]}: {says}",
                "" if same else f"expected {expected or 'nothing'}, found {got or 'nothing'}",
            )
