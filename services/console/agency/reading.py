"""What the page of switches shows of the agent."""

from collections.abc import Mapping
from typing import Any

from services.console.agency import store
from services.console.agency.domain import in_words, title_of
from services.console.agency.usecases.show_settings import show_settings
from shared.db import Tx

RECENT = 20


async def agency_context(tx: Tx) -> dict[str, Any]:
    """For templates/_agency.html."""
    people = await store.people_named(tx)
    names = {f"user:{row['id']}": row["name"] for row in people}

    def title(row: Mapping[Any, Any]) -> str:
        return title_of(row["name"], row["subject"], names.get(row["subject"], ""))[0]

    return {
        "agency": await show_settings(tx),
        "agency_changes": await store.changes(tx, RECENT),
        "capped_people": people,
        "models": await store.llm_connectors(tx),
        "in_words": in_words,
        "title_of": title,
    }
