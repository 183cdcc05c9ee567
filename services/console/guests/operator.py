"""The operator's commands on guests of the site (S12)."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from services.console.guests import store
from services.console.guests.domain import state_of
from services.console.guests.usecases.invite_guest import invite_guest
from services.console.guests.usecases.revoke_guest import revoke_guest
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from shared.clock import now
from shared.errors import NotFound

Args = dict[str, Any]


class GuestOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "guests.list": self.listed,
            "guests.invite": self.invite,
            "guests.revoke": self.revoke,
        }

    async def listed(self, _: Args) -> Args:
        """{"guests": [{"guest","label","state","until","created_at","created_by"}]}, newest first."""
        async with self._console.db.reading() as tx:
            rows, at = await store.list_guests(tx), now()
        return {
            "guests": [
                {
                    "guest": str(row["subject"]),
                    "label": row["label"],
                    "state": state_of(row["until"], row["revoked_at"], at),
                    "until": row["until"].isoformat(),
                    "created_at": row["created_at"].isoformat(),
                    "created_by": row["created_by"],
                }
                for row in rows
            ]
        }

    async def invite(self, args: Args) -> Args:
        """args {"label", "days"} → {"url"}: the link, once."""
        async with self._console.db.transaction() as tx:
            token = await invite_guest(
                tx, self._console.identity, OPERATOR, str(args["label"]), int(args.get("days") or 0)
            )
        return {"url": self._console.guest_link(token)}

    async def revoke(self, args: Args) -> Args:
        """args {"guest"} → {"revoked": guest}."""
        try:
            subject = UUID(str(args["guest"]))
        except ValueError:
            raise NotFound(
                f"there is no guest {args['guest']!r}; `schleuse guests list` shows them", code="guest"
            ) from None
        async with self._console.db.transaction() as tx:
            await revoke_guest(tx, self._console.identity, OPERATOR, subject)
        return {"revoked": str(args["guest"])}
