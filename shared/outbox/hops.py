"""What a service's outbox and inbox tell about one aggregate: the hops of `schleuse trace`."""

import json
from typing import Any

from shared.db.engine import Database
from shared.telemetry import trace_id_of

_STAGED = """
SELECT o.name, o.subject, o.occurred_at, o.body,
       (SELECT s.at FROM app.sent s WHERE s.lane = o.lane AND s.last >= o.position AND s.first <= o.position ORDER BY s.last LIMIT 1) AS sent_at
  FROM app.outbox o WHERE o.about = $1 ORDER BY o.position LIMIT 500
"""
_HANDLED = "SELECT name, handled_at FROM app.inbox WHERE about = $1 ORDER BY handled_at LIMIT 500"


class HopDesk:
    """The `hops` verb: {"hops": [{"event","service","step","at","trace_id"}]}, steps `staged`, `sent`, `handled`."""

    def __init__(self, db: Database, service: str) -> None:
        self._db, self._service = db, service

    async def hops(self, args: dict[str, Any]) -> dict[str, Any]:
        about = str(args["item_id"])
        async with self._db.reading() as tx:
            staged = await tx.raw.fetch(_STAGED, about)
            handled = await tx.raw.fetch(_HANDLED, about)
        found = []
        for row in staged:
            trace = trace_id_of(json.loads(row["body"]).get("traceparent", ""))
            found.append(self._hop(row["name"], "staged", row["occurred_at"], trace, row["subject"]))
            if row["sent_at"] is not None:
                found.append(self._hop(row["name"], "sent", row["sent_at"], trace, row["subject"]))
        found += [self._hop(row["name"], "handled", row["handled_at"], "", "") for row in handled]
        return {"hops": found}

    def _hop(self, event: str, step: str, at: Any, trace_id: str, subject: str) -> dict[str, Any]:
        return {
            "event": event,
            "service": self._service,
            "step": step,
            "at": at.isoformat(),
            "trace_id": trace_id,
            "subject": subject,
        }
