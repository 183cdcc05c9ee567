"""Build the exact bytes of an event when it is staged, and seal those of the bridge.

A transaction's envelopes are sealed together: one Ed25519 signature over the root of a Merkle tree of their hashes, and
each carries its path to the root. A reader checks an envelope alone with a few SHA-256, and each signature once, so a
signature costs the same for one event and for two hundred.
"""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from schemas.catalogue import BY_NAME, Event, from_subject, to_subject
from schemas.model import MAX_EVENT
from shared.clock import now
from shared.errors import TooLarge
from shared.ids import fresh_id, new_id
from shared.outbox.seal import HEADER, Sealer
from shared.telemetry import current_traceparent

if TYPE_CHECKING:
    from shared.bus.received import AnyReceived

_ENCODER = json.JSONEncoder(ensure_ascii=False)
HEADERS_ROOM = 2048
"""Bytes kept free for headers: seal, message id, batch marks."""


@dataclass
class Pending:
    """One row of the outbox before it is written."""

    event_id: UUID
    name: str
    subject: str
    lane: str
    about: str | None
    key: str
    keyversion: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    def columns(self) -> tuple[Any, ...]:
        """In the order of Tx's insert statement."""
        return (
            self.event_id,
            self.name,
            self.subject,
            self.lane,
            self.about,
            self.key,
            self.keyversion,
            self.body,
            json.dumps(self.headers),
        )


@lru_cache(maxsize=256)
def _owned(service: str, name: str) -> Event:
    event = BY_NAME.get(name)
    if event is None or event.owner != service:
        raise LookupError(f"{service} owns no event {name}")
    return event


class Stamp:
    """Writes envelopes in a service's name. `sealer` is the bridge's."""

    def __init__(self, service: str, sealer: Sealer | None = None) -> None:
        self.service = service
        self._sealer = sealer

    def envelope(
        self,
        name: str,
        data: bytes,
        *,
        key: str,
        version: int,
        about: str,
        to: str | None,
        actor: str | None,
        cause: "AnyReceived | None",
    ) -> Pending:
        """An event of this service's own. What goes to the site gets fresh ids and no cause, actor or correlation (S14)."""
        event = _owned(self.service, name)
        outward = to == "site"
        event_id = fresh_id() if outward else new_id()
        head: dict[str, Any] = {
            "specversion": "1.0",
            "id": str(event_id),
            "source": f"/{self.service}",
            "type": event.ce_type,
            "dataschema": event.schema_name(),
            "datacontenttype": "application/json",
            "subject": about,
            "time": now().isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "traceparent": current_traceparent(),
            "key": key,
            "keyversion": version,
        }
        if not outward:
            head |= _provenance(event_id, actor, cause)
        body = _ENCODER.encode(head).encode()[:-1] + b',"data":' + data + b"}"
        return self._pending(event, event_id, to, about, key, version, body)

    def forwarded(self, event: "AnyReceived", to: str, body: bytes | None) -> Pending:
        declared = BY_NAME[event.name]
        envelope = event.envelope
        return self._pending(
            declared, envelope.id, to, envelope.subject, envelope.key, envelope.keyversion, body or event.raw
        )

    def _pending(
        self, event: Event, event_id: UUID, to: str | None, about: str, key: str, version: int, body: bytes
    ) -> Pending:
        if len(body) + HEADERS_ROOM > MAX_EVENT:
            raise TooLarge(
                f"the event {event.name} has {len(body)} bytes; at most {MAX_EVENT - HEADERS_ROOM} can cross"
            )
        if self.service == "bridge":
            if to is None or (to not in event.readers):
                raise LookupError(f"{to} does not read {event.name}")
            subject, lane = to_subject(to, event.name), f"{to}.{event.lane}"
        else:
            subject, lane = from_subject(self.service, event.name), event.lane
        return Pending(event_id, event.name, subject, lane, None if event.masses else about, key, version, body)

    def seal(self, pending: list[Pending]) -> None:
        """Add the seal to each envelope of the bridge."""
        if self._sealer is not None:
            seals = self._sealer.seal([(each.subject, each.body) for each in pending])
            for each, seal in zip(pending, seals, strict=True):
                each.headers[HEADER] = seal


def _provenance(event_id: UUID, actor: str | None, cause: "AnyReceived | None") -> dict[str, Any]:
    found: dict[str, Any] = {} if actor is None else {"actor": actor}
    if cause is None:
        return found | {"correlationid": str(event_id)}
    correlation = cause.envelope.correlationid or cause.envelope.id
    return found | {"causationid": str(cause.envelope.id), "correlationid": str(correlation)}
