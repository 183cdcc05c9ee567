"""An answer to a form becomes a record where the form is mapped. What does not fit says why, and waits."""

from collections.abc import Mapping
from typing import Any

from schemas.model import Actor
from services.console.answers import store
from services.console.answers.domain import ANSWERED_AT
from services.console.apps.views import find_app
from services.console.records.usecases.add_records import add_records
from services.console.records.values import show_value
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused

SITE = Actor(id="site", name="a visitor's form", via="visitor")


async def place_answer(tx: Tx, answer: Mapping[Any, Any], mapping: Mapping[Any, Any]) -> bool:
    """Whether it is a record now."""
    try:
        async with tx.savepoint():
            app = await find_app(tx, mapping["app"])
            if app is None:
                raise NotFound(f"There is no app {mapping['app']} any more.")
            row = _row(answer, mapping["fields"])
            [key] = await add_records(tx, app, mapping["table_name"], [row], SITE, "form", answer["answer_id"])
    except (Refused, Conflict, NotFound) as error:
        await store.note_fault(tx, answer["answer_id"], error.message)
        return False
    await store.note_row(tx, answer["answer_id"], mapping["app"], mapping["table_name"], key)
    return True


def _row(answer: Mapping[Any, Any], fields: Mapping[str, str]) -> dict[str, str | None]:
    given = answer["answers"] | {ANSWERED_AT: show_value(answer["at"])}
    return {column: given.get(name) or None for name, column in fields.items()}
