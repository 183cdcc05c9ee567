"""The operator's look at where an item comes from."""

from collections.abc import Awaitable, Callable
from typing import Any

from services.console.parts import Console
from services.console.provenance.api import figures_of
from services.console.provenance.reading import read_provenance

Args = dict[str, Any]


class ProvenanceOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {"provenance.show": self.show}

    async def show(self, args: Args) -> Args:
        """args {"address"} → as `GET /api/v1/provenance`."""
        return figures_of(await read_provenance(self._console.db, str(args["address"]))).model_dump(mode="json")
