"""What a service reads and publishes, declared to FastStream: typed subscribers and publishers, and the document that it makes of them.

FastStream declares and documents; delivery is shared.bus.delivery (decision 0004). The declaration is one that could run as it
stands: nothing is created on the server, the durable is the provisioned one, and every inbox has the service's own prefix.
"""

import json
from functools import cache
from typing import Any

from faststream import FastStream
from faststream.nats import JStream, NatsBroker
from faststream.specification import AsyncAPI
from pydantic import create_model

from schemas.catalogue import EVENTS, Event, durable, from_stream, from_subject, read_by, to_stream, to_subject
from schemas.envelope import Envelope
from schemas.model import Data

Place = tuple[Event, str]
"""An event and the subject that it travels under."""


@cache
def message_model(event: Event, version: int) -> type[Envelope]:
    """The envelope with its data typed: what is on the wire."""
    title = f"{''.join(part.title() for part in event.name.replace('_', '.').split('.'))}EventV{version}"
    fields: Any = {"data": (_named_apart(event.data[version], version), ...)}
    return create_model(title, __base__=Envelope, __doc__=event.about, **fields)


def _named_apart(model: type[Data], version: int) -> type[Data]:
    """The versions of an event's data have one name in their modules; in a document every schema has its own."""
    if version == 1:
        return model
    return create_model(f"{model.__name__}V{version}", __base__=model, __doc__=model.__doc__)


def received_by(service: str) -> list[Place]:
    return [(event, _received_on(service, event)) for event in _sorted(read_by(service))]


def sent_by(service: str) -> list[Place]:
    """The bridge sends its own events and those that it forwards."""
    return [(event, subject) for event in _sorted(EVENTS) for subject in _sent_on(service, event)]


def declare(service: str) -> NatsBroker:
    """A broker that knows every subject of a service. It is not connected."""
    broker = NatsBroker(inbox_prefix=_inbox(service))
    for event, subject in received_by(service):
        for version in sorted(event.data):
            _subscribe(broker, service, event, version, subject)
    for event, subject in sent_by(service):
        for version in sorted(event.data):
            broker.publisher(
                subject, title=_title(subject, version), description=event.about, schema=message_model(event, version)
            )
    return broker


def declared_document(service: str) -> dict[str, Any]:
    """FastStream's AsyncAPI 3.0 document of the declaration, as JSON values."""
    app = FastStream(declare(service), specification=AsyncAPI(title=service, version="1"))
    found: dict[str, Any] = json.loads(app.schema.to_specification().to_json())
    return found


def _subscribe(broker: NatsBroker, service: str, event: Event, version: int, subject: str) -> None:
    stream = from_stream(event.owner) if service == "bridge" else to_stream(service)

    async def handler(message: Any) -> None: ...

    handler.__name__ = f"on_{event.name.replace('.', '_')}"
    handler.__annotations__ = {"message": message_model(event, version), "return": None}
    broker.subscriber(
        subject,
        stream=JStream(stream, declare=False),
        durable=durable(service, event.lane),
        pull_sub=True,
        inbox_prefix=_inbox(service),
        title=_title(subject, version),
        description=event.about,
    )(handler)


def _title(subject: str, version: int) -> str:
    return subject if version == 1 else f"{subject}.v{version}"


def _inbox(service: str) -> bytes:
    return f"_INBOX_{service}.".encode()


def _received_on(service: str, event: Event) -> str:
    return from_subject(event.owner, event.name) if service == "bridge" else to_subject(service, event.name)


def _sent_on(service: str, event: Event) -> list[str]:
    if service == "bridge":
        return [to_subject(reader, event.name) for reader in event.readers if reader != "bridge"]
    return [from_subject(service, event.name)] if event.owner == service else []


def _sorted(events: Any) -> list[Event]:
    return sorted(events, key=lambda event: event.name)
