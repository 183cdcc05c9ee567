"""Apply a batch of events: record their ids, call the handlers for the new ones, all in one transaction."""

from collections.abc import Sequence

from schemas.catalogue import BY_NAME
from shared.bus.listen import Intake
from shared.bus.received import AnyReceived
from shared.db.engine import Database
from shared.db.transaction import Tx
from shared.errors import Permanent
from shared.telemetry import span

_RECORD = """
INSERT INTO app.inbox (reader, event_id, name, about)
SELECT $1, id, name, about FROM unnest($2::uuid[], $3::text[], $4::text[]) AS e(id, name, about)
ON CONFLICT DO NOTHING RETURNING event_id
"""


class Applier:
    """Runs a service's handlers over events. Used by delivery and by replay."""

    def __init__(self, db: Database, intake: Intake, reader: str) -> None:
        self._db = db
        self._intake = intake
        self._reader = reader

    async def prepare(self, events: Sequence[AnyReceived]) -> None:
        """Slow reading work, before the transaction. Handlers without a prepare step cost nothing."""
        for event in events:
            handler = self._intake.handler(event.name)
            if handler is not None and handler.prepare is not None and event.prepared is None:
                event.prepared = await handler.prepare(event)

    async def apply(self, events: Sequence[AnyReceived]) -> int:
        """One transaction for all of them; how many were new. Any error undoes the whole batch."""
        async with self._db.transaction() as tx:
            fresh = await self._record(tx, events)
            await self.dispatch(tx, fresh)
        return len(fresh)

    async def park(self, event: AnyReceived, reason: str) -> None:
        """Keep the event with its reason instead of its effect; a repeat of it is not tried again."""
        async with self._db.transaction() as tx:
            if await self._record(tx, [event]):
                await tx.park(event, reason)
                if self._intake.on_parked is not None:
                    await self._intake.on_parked(tx, event, reason)

    async def _record(self, tx: Tx, events: Sequence[AnyReceived]) -> list[AnyReceived]:
        unique = {event.event_id: event for event in events}
        ids = sorted(unique)
        rows = await tx.raw.fetch(
            _RECORD,
            self._reader,
            ids,
            [unique[each].name for each in ids],
            [None if BY_NAME[unique[each].name].masses else unique[each].envelope.subject for each in ids],
        )
        new = {row["event_id"] for row in rows}
        return [event for each, event in unique.items() if each in new]

    async def dispatch(self, tx: Tx, events: Sequence[AnyReceived]) -> None:
        """Call the handlers: batches by type for those declared so, the rest one by one, in order of arrival."""
        grouped: dict[str, list[AnyReceived]] = {}
        for event in events:
            handler = self._intake.handler(event.name)
            if handler is None:
                raise Permanent(f"{self._reader} has no handler for {event.name}")
            if handler.batch:
                grouped.setdefault(event.name, []).append(event)
            else:
                with span(f"{self._reader} {event.name}", parent=event.envelope.traceparent, consumer=True):
                    await handler.call(tx, event)
        for name, same in grouped.items():
            handler = self._intake.handlers[name]
            links = list(dict.fromkeys(event.envelope.traceparent for event in same))
            with span(f"{self._reader} {name} batch", links=links, consumer=True):
                await handler.call(tx, same)
