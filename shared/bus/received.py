"""An event as a handler sees it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import ValidationError

from schemas.catalogue import BY_NAME, Event, from_subject, to_subject
from schemas.envelope import Envelope
from schemas.model import Data
from schemas.text import BadJson
from shared.errors import BadSignature, Permanent
from shared.outbox.seal import HEADER, SealChecker

T = TypeVar("T", bound=Data)


@dataclass
class Received(Generic[T]):
    """One event: typed `data`, the envelope, and the exact bytes it came in. `prepared` is what a prepare step returned."""

    data: T
    envelope: Envelope
    raw: bytes
    subject: str
    headers: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 1
    prepared: Any = None

    @property
    def event_id(self) -> UUID:
        return self.envelope.id

    @property
    def name(self) -> str:
        return self.envelope.name

    @property
    def sender(self) -> str:
        return self.envelope.service

    @property
    def headers_json(self) -> str:
        return json.dumps(dict(self.headers))


AnyReceived = Received[Any]


class Unreadable(Permanent):
    """The bytes can never be handled; parked at once (rule 12)."""

    default_code = "unreadable"


class Reader:
    """Turns messages into events for one service: seal, JSON, envelope, version, schema, and that it came the right way."""

    def __init__(self, service: str, seals: SealChecker | None) -> None:
        self._service = service
        self._seals = seals

    def read(self, subject: str, headers: Mapping[str, str], raw: bytes, attempt: int = 1) -> AnyReceived:
        """Unreadable (or BadSignature) says why an event is parked."""
        if self._seals is not None:
            self._seals.check(headers.get(HEADER), subject, raw)
        try:
            envelope = Envelope.from_bytes(raw)
        except (BadJson, ValidationError) as error:
            raise Unreadable(f"not a readable event: {_short(error)}") from None
        self._check_way(subject, envelope)
        return Received(self._data(envelope), envelope, raw, subject, headers, attempt)

    def _check_way(self, subject: str, envelope: Envelope) -> None:
        event = BY_NAME.get(envelope.name)
        if event is None:
            raise Unreadable(f"the catalogue has no event {envelope.name}")
        if envelope.service != event.owner:
            raise BadSignature(f"{envelope.name} belongs to {event.owner}, this one says it is from {envelope.service}")
        if self._seals is not None:
            expected = to_subject(self._service, event.name)
        else:
            expected = from_subject(event.owner, event.name)
        if subject != expected:
            raise BadSignature(f"{envelope.name} came on {subject}, not on {expected}")

    @staticmethod
    def _data(envelope: Envelope) -> Data:
        event = BY_NAME[envelope.name]
        model = _models(event).get(envelope.dataschema)
        if model is None:
            raise Unreadable(f"{envelope.name}: unknown version {envelope.dataschema}; known: {sorted(event.data)}")
        try:
            return model.model_validate(envelope.data)
        except ValidationError as error:
            raise Unreadable(f"{envelope.name} does not fit {envelope.dataschema}: {_short(error)}") from None


@cache
def _models(event: Event) -> dict[str, type[Data]]:
    """The models of an event's versions by the name that stands in the envelope."""
    return {event.schema_name(version): model for version, model in event.data.items()}


def _short(error: Exception) -> str:
    """The error without the input's values: they may be anything, and reasons are shown and logged."""
    if isinstance(error, ValidationError):
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        return "; ".join(f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in faults[:5])[:500]
    return str(error)[:500]
