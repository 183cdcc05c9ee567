"""What a person has here, as a whole: each part's own holding first, then the rows of every table that no part speaks for."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import MetaData

from services.agent.belongings.domain import Holding
from services.agent.belongings.rows import Rows
from shared.db import Database


def all_holdings(
    db: Database, core: MetaData, owned: frozenset[str], grants: Mapping[str, Mapping[str, Any]], own: Sequence[Holding]
) -> tuple[Holding, ...]:  # fmt: skip
    """`own`: holdings of parts. Conversations come first: what runs in them is over before the rest is deleted."""
    spoken_for = frozenset[str]().union(*(each.tables for each in own))
    return (*own, Rows(db, core, owned, grants, spoken_for))
