"""AsyncAPI 3 of a service, made by FastStream from the declared handlers and the catalogue's publishers.

FastStream is what declares and documents; delivery itself is shared.bus.delivery (see infra/decisions on throughput).
"""

import json
from functools import cache
from typing import Any

from faststream import FastStream
from faststream.nats import JStream, NatsBroker
from faststream.specification import AsyncAPI
from pydantic import create_model

from schemas.catalogue import (
    Event,
    durable,
    from_stream,
    from_subject,
    owned_by,
    read_by,
    to_stream,
    to_subject,
)
from schemas.envelope import Envelope


@cache
def message_model(event: Event) -> type[Envelope]:
    """The envelope with its data typed: what is on the wire."""
    title = "".join(part.title() for part in event.name.replace("_", ".").split(".")) + "Event"
    return create_model(title, __base__=Envelope, data=(event.model, ...), __doc__=event.about)


def declare(service: str) -> NatsBroker:
    """A broker that knows every subject the service reads and publishes; nothing is created on the server (declare=False)."""
    broker = NatsBroker(inbox_prefix=f"_INBOX_{service}.".encode())
    for event in sorted(read_by(service), key=lambda each: each.name):
        _subscriber(broker, service, event)
    for event in sorted(owned_by(service), key=lambda each: each.name):
        for subject in _published(service, event):
            broker.publisher(subject, title=subject, description=event.about, schema=message_model(event))
    return broker


def _published(service: str, event: Event) -> list[str]:
    if service != "bridge":
        return [from_subject(service, event.name)]
    return [to_subject(reader, event.name) for reader in event.readers]


def _subscriber(broker: NatsBroker, service: str, event: Event) -> None:
    crossing = service == "bridge"
    subject = from_subject(event.owner, event.name) if crossing else to_subject(service, event.name)
    stream = from_stream(event.owner) if crossing else to_stream(service)
    model = message_model(event)

    async def handler(message: Any) -> None: ...

    handler.__name__ = f"on_{event.name.replace('.', '_')}"
    handler.__annotations__ = {"message": model, "return": None}
    broker.subscriber(
        subject,
        stream=JStream(stream, declare=False),
        durable=durable(service, event.lane),
        pull_sub=True,
        inbox_prefix=f"_INBOX_{service}.".encode(),
        title=subject,
        description=event.about,
    )(handler)


def specification(service: str) -> dict[str, Any]:
    """The AsyncAPI 3.0 document as JSON values."""
    spec = AsyncAPI(title=f"Schleuse {service}", version="1", description="Generated from schemas/catalogue.py.")
    app = FastStream(declare(service), specification=spec)
    found: dict[str, Any] = json.loads(app.schema.to_specification().to_json())
    return found
