"""One event at the lock: what it changes, what is told about it, and the record of every crossing, as one step.

Everything is collected and written in one statement at the end, so that a step costs few round trips.
"""

from collections.abc import Iterable
from typing import Any

from schemas.catalogue import BY_NAME
from schemas.model import Data
from schemas.text import sha256
from services.bridge.store import Crossing, Writes
from shared.bus import Received
from shared.db import Tx
from shared.telemetry import trace_id_of


class Step:
    """`tell` publishes and notes the crossing; `done` notes the crossing of the event itself and writes all."""

    def __init__(self, tx: Tx, cause: Received[Any] | None = None) -> None:
        self.tx = tx
        self.cause = cause
        self.writes = Writes()
        self._crossings: list[Crossing] = []
        self._forwarded = False
        self._trace = trace_id_of(cause.envelope.traceparent) if cause else ""

    @property
    def from_agent(self) -> bool:
        """Whether the agent published the event that caused this step."""
        return self.cause is not None and self.cause.sender == "agent"

    def tell(
        self,
        name: str,
        data: Data,
        *,
        key: str,
        version: int,
        to: str = "console",
        about: str = "",
        actor: str | None = None,
        decided_by: str = "",
        signature_hash: str | None = None,
    ) -> None:
        """Publish one of the bridge's own events. What goes to the site carries neither cause nor actor (S14)."""
        body = data.model_dump_json().encode()
        inside = to != "site"
        event_id = self.tx.stage_json(
            name,
            body,
            key=key,
            version=version,
            about=about,
            to=to,
            actor=actor if inside else None,
            cause=self.cause if inside else None,
        )
        crossing = Crossing(
            event_id, "bridge", to, name, about or key, version, sha256(body), BY_NAME[name].policy, "delivered"
        )
        self._crossings.append(
            crossing._replace(decided_by=decided_by, signature_hash=signature_hash, trace_id=self._trace)
        )

    def forward(self, to: str, *, decided_by: str, signature: bytes) -> None:
        """Let the event that caused this step through unchanged. Its only crossing is the one to `to`."""
        assert self.cause is not None
        self.tx.forward(self.cause, to)
        noted = crossing_of(self.cause, to, BY_NAME[self.cause.name].policy, "delivered")
        self._crossings.append(noted._replace(decided_by=decided_by, signature_hash=sha256(signature)))
        self._forwarded = True

    async def done(
        self,
        verdict: str = "delivered",
        *,
        policy: str = "",
        reason: str = "",
        decided_by: str = "",
        signature: bytes | None = None,
    ) -> None:
        """Record how the event that caused this step went, and write everything."""
        if self.cause is not None and not self._forwarded:
            noted = crossing_of(self.cause, "bridge", policy or BY_NAME[self.cause.name].policy, verdict, reason)
            hashed = None if signature is None else sha256(signature)
            self._crossings.insert(0, noted._replace(decided_by=decided_by, signature_hash=hashed))
        if self._crossings:
            self.writes.cross(self._crossings)
        await self.writes.run(self.tx)


def crossing_of(event: Received[Any], receiver: str, policy: str, verdict: str, reason: str = "") -> Crossing:
    """The record of an event that a surface published. `key` of an item's event is the item's id."""
    envelope = event.envelope
    return Crossing(
        envelope.id,
        envelope.service,
        receiver,
        envelope.name,
        envelope.subject if envelope.name.startswith("item.") else envelope.key,
        envelope.keyversion,
        sha256(event.raw),
        policy,
        verdict,
        reason[:500],
        trace_id=trace_id_of(envelope.traceparent),
    )


async def record_crossings(tx: Tx, crossings: Iterable[Crossing]) -> None:
    """One statement for a batch."""
    writes = Writes()
    writes.cross(list(crossings))
    await writes.run(tx)
