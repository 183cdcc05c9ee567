"""CloudEvents 1.0 as the official SDK reads and writes it (structured mode, which is what NATS carries)."""

import json

import pytest
from cloudevents.core.exceptions import CloudEventValidationError
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from schemas.catalogue import Event
from schemas.envelope import Envelope
from tests.contracts.contracts import example_path
from tests.contracts.test_contracts import VERSIONS

SDK = JSONFormat()


def check(raw: bytes) -> CloudEvent:
    """Read by the SDK, written by it, and read by us: nothing is lost or turned."""
    event = SDK.read(None, raw)
    assert isinstance(event, CloudEvent)
    written = SDK.write(event)
    ours = Envelope.from_bytes(written)
    assert ours == Envelope.from_bytes(raw)
    assert json.loads(ours.to_bytes()) == json.loads(raw)
    assert event.get_time() == ours.time
    return event


@pytest.mark.parametrize(("event", "version"), VERSIONS)
def test_every_golden_example_is_a_cloud_event_to_the_sdk(event: Event, version: int) -> None:
    found = check(example_path(event, version).read_bytes())
    assert (found.get_type(), found.get_source()) == (event.ce_type, f"/{event.owner}")
    assert found.get_dataschema() == event.schema_name(version)
    assert found.get_extension("keyversion") == Envelope.from_bytes(SDK.write(found)).keyversion


@pytest.mark.parametrize("lacks", ["source", "type"])
def test_what_is_no_cloud_event_is_none_to_both(lacks: str) -> None:
    event, version = VERSIONS[0].values
    raw = json.loads(example_path(event, version).read_bytes())  # type: ignore[arg-type]
    del raw[lacks]
    with pytest.raises(CloudEventValidationError):
        SDK.read(None, json.dumps(raw))
    with pytest.raises(ValueError, match=lacks):
        Envelope.from_bytes(json.dumps(raw).encode())
