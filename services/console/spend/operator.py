"""The operator's look at spend."""

from collections.abc import Awaitable, Callable
from typing import Any

from services.console.parts import Console
from services.console.spend.api import figures_of
from services.console.spend.domain import check_by, check_days
from services.console.spend.reading import read_spend
from shared.clock import now
from shared.errors import Refused

Args = dict[str, Any]


class SpendOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {"spend.show": self.show}

    async def show(self, args: Args) -> Args:
        """args {"by"?, "days"?} → as `GET /api/v1/spend?everybody=true`."""
        days = args.get("days", 30)
        if not isinstance(days, int):
            raise Refused("days is a whole number", code="days")
        async with self._console.db.reading() as tx:
            found = await read_spend(tx, check_by(str(args.get("by") or "owner")), None, check_days(days), now())
        return figures_of(found).model_dump(mode="json")
