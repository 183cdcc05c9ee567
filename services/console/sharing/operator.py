"""The operator's commands on what is shared with the agent (S12). Recorded as `operator`."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from services.console.parts import Console
from services.console.people.domain import OPERATOR
from services.console.queue import views
from services.console.sharing import store
from services.console.sharing.usecases.share_record import share_feedback, share_item, share_text
from services.console.sharing.usecases.take_back import take_back
from shared.errors import NotFound
from shared.telemetry import span

Args = dict[str, Any]
MOST = 200


class SharingOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "sharing.list": self.listed,
            "sharing.feedback": self.feedback,
            "sharing.item": self.item,
            "sharing.text": self.text,
            "sharing.take_back": self.back,
        }

    async def listed(self, args: Args) -> Args:
        """args {"feedback"?: true: what visitors wrote and is not shared} → {"records": [...]}, the newest first."""
        async with self._console.db.reading() as tx:
            if args.get("feedback"):
                rows = await store.open_feedback(tx, None, MOST)
                return {"records": [{"record_id": str(row["signal_id"]), "kind": "feedback", "title": row["title"] or row["path"], "text": row["text"], "source": "visitor", "at": row["at"].isoformat()} for row in rows]}  # fmt: skip
            found = await store.shared(tx)
        names = ("kind", "title", "text", "source", "shared_by", "version")
        return {"records": [{"record_id": str(row["record_id"]), "at": row["at"].isoformat()} | {name: row[name] for name in names} for row in found]}  # fmt: skip

    async def feedback(self, args: Args) -> Args:
        """args {"records": [ids], or "all": true: the 100 newest} → {"shared": how many were not shared before}."""
        with span("console operator sharing.feedback"):
            async with self._console.db.transaction() as tx:
                ids = [_id(each) for each in args.get("records") or []]
                if args.get("all"):
                    ids = [row["signal_id"] for row in await store.open_feedback(tx, None, 100)]
                return {"shared": await share_feedback(tx, OPERATOR, ids)}

    async def item(self, args: Args) -> Args:
        """args {"item": id or kind/lang/path} → {"record_id"}."""
        with span("console operator sharing.item"):
            async with self._console.db.transaction() as tx:
                named = str(args["item"])
                found = await views.find_item(tx, named) if "/" in named else _id(named)
                if found is None:
                    raise NotFound(f"there is no item {named!r}; `schleuse items list` shows them", code="item")
                return {"record_id": str(await share_item(tx, OPERATOR, found))}

    async def text(self, args: Args) -> Args:
        """args {"title", "text", "source": staff, visitor or outside} → {"record_id"}."""
        with span("console operator sharing.text"):
            async with self._console.db.transaction() as tx:
                given = (str(args[name]) for name in ("title", "text", "source"))
                return {"record_id": str(await share_text(tx, OPERATOR, *given))}

    async def back(self, args: Args) -> Args:
        """args {"record"} → {"taken_back": record}."""
        with span("console operator sharing.take_back"):
            async with self._console.db.transaction() as tx:
                await take_back(tx, OPERATOR, _id(args["record"]))
        return {"taken_back": str(args["record"])}


def _id(value: object) -> UUID:
    try:
        return UUID(str(value))
    except ValueError:
        raise NotFound(f"there is no record {str(value)!r}; `schleuse share list` shows them", code="record") from None
