"""A mapping is gone; what it made stays where it is."""

from uuid import UUID

from services.console.mappings import store
from services.console.mappings.usecases.make_drafts import find_mapping
from services.console.people.domain import Caller
from shared.db import Tx


async def remove_mapping(tx: Tx, caller: Caller, mapping_id: UUID) -> None:
    caller.require("submit")
    await find_mapping(tx, mapping_id)
    await store.remove(tx, mapping_id)
