"""The operator's commands on the agent's settings (S12). Each returns when the agent has answered."""

from collections.abc import Awaitable, Callable
from typing import Any

from services.console.agency.domain import Shown, check_wanted
from services.console.agency.usecases.set_setting import set_setting
from services.console.agency.usecases.show_settings import show_settings
from services.console.agency.usecases.wait_for_setting import wait_for_setting
from services.console.parts import Console
from services.console.people import views
from services.console.people.domain import OPERATOR
from shared.errors import NotFound, Refused, Transient
from shared.telemetry import span

Args = dict[str, Any]
PATIENCE = 30.0
EVERYBODY = ("users", "guests", "")


class AgencyOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "agent.settings": self.listed,
            "agent.set": self.set,
        }

    async def listed(self, _: Args) -> Args:
        """{"settings": [{"name","subject","title","value","words","by","at","reason","version"}]}; `by` null: as installed."""
        async with self._console.db.reading() as tx:
            return {"settings": [_shown(each) for each in await show_settings(tx)]}

    async def set(self, args: Args) -> Args:
        """args {"name", "subject"?, "value", "reason"?}; a person's subject is what they sign in with → the setting as in the list."""
        console = self._console
        with span("console operator agent.set"):
            async with console.db.transaction() as tx:
                subject = str(args.get("subject") or "")
                if subject not in EVERYBODY and not subject.startswith("user:"):
                    person_id = await views.find_person(tx, subject)
                    if person_id is None:
                        raise NotFound(f"nobody signs in as {subject!r}; `schleuse people list` shows everybody")
                    subject = f"user:{person_id}"
                wanted = check_wanted(str(args["name"]), subject, str(args["value"]))
                reason = str(args.get("reason") or "by the operator")
                statement_hash = await set_setting(tx, await console.ring.signing(tx), OPERATOR, wanted, reason)
        outcome, why = await wait_for_setting(console.db, console.live, statement_hash, PATIENCE)
        if outcome == "refused":
            raise Refused(f"nothing was changed: {why}", code="refused")
        if outcome == "sent":
            raise Transient(
                f"the agent has not answered in {PATIENCE:.0f} s; it goes on by itself, see `agent settings`"
            )
        return {"name": wanted.name, "subject": wanted.subject, "value": wanted.value}


def _shown(each: Shown) -> Args:
    row = each.row
    return {
        "name": each.name,
        "subject": each.subject,
        "title": each.title,
        "value": each.value,
        "words": each.in_words,
        "by": row["by_name"] if row else None,
        "at": row["set_at"].isoformat() if row and row["set_at"] else None,
        "reason": row["reason"] if row else None,
        "version": row["version"] if row else 0,
    }
