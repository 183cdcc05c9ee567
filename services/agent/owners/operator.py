"""What the operator asks about owners."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from services.agent.owners.access import AccessKeys
from shared.errors import NotFound
from shared.operator import Verb


class OwnersOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, access: AccessKeys) -> None:
        self._access = access

    @property
    def verbs(self) -> Mapping[str, Verb]:
        return {"access.known": self.known}

    async def known(self, args: dict[str, Any]) -> dict[str, Any]:
        """args {"id"} → {"good": whether that key opens anything}."""
        try:
            access_id = UUID(str(args["id"]))
        except ValueError:
            raise NotFound("there is no such key", code="key") from None
        return {"good": await self._access.is_good(access_id)}
