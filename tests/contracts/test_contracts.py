"""Contracts are frozen: a changed schema is a new version, and every version keeps reading its golden example."""

import json

import pytest

from schemas.catalogue import DELIVER_TO_SITE, EVENTS, SERVICES, Event, from_lanes, to_lanes
from schemas.envelope import Envelope
from schemas.model import Data
from shared.bus.asyncapi import specification
from tests.contracts.contracts import as_text, asyncapi_path, example_path, schema_of, snapshot_path

VERSIONS = [pytest.param(event, version, id=f"{event.name}.v{version}") for event in EVENTS for version in event.data]


@pytest.mark.parametrize(("event", "version"), VERSIONS)
def test_a_schema_is_as_committed(event: Event, version: int) -> None:
    path = snapshot_path(event, version)
    assert path.exists(), f"no snapshot; run python -m tests.contracts.contracts and commit {path.name}"
    assert as_text(schema_of(event, version)) == path.read_text(), (
        "a changed contract is a new version in the catalogue"
    )


@pytest.mark.parametrize(("event", "version"), VERSIONS)
def test_a_golden_example_is_read_and_written_unchanged(event: Event, version: int) -> None:
    raw = example_path(event, version).read_bytes()
    envelope = Envelope.from_bytes(raw)
    assert envelope.type == event.ce_type
    assert envelope.dataschema == event.schema_name(version)
    data = event.data[version].model_validate(envelope.data)
    assert json.loads(data.model_dump_json()) == envelope.data
    assert json.loads(envelope.to_bytes()) == json.loads(raw)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_unknown_fields_are_refused_not_dropped(event: Event) -> None:
    for model in event.data.values():
        assert model.model_config["extra"] == "forbid"
        for field in model.model_fields.values():
            nested = field.annotation
            if isinstance(nested, type) and issubclass(nested, Data):
                assert nested.model_config["extra"] == "forbid"


@pytest.mark.parametrize("service", SERVICES)
def test_the_asyncapi_document_is_as_committed(service: str) -> None:
    assert as_text(specification(service)) == asyncapi_path(service).read_text()


def test_every_event_is_once_in_the_catalogue_and_travels_one_lane() -> None:
    names = [event.name for event in EVENTS]
    assert len(names) == len(set(names))
    for event in EVENTS:
        assert event.owner in SERVICES
        assert event.readers, f"{event.name} has no reader"
        noun, _, verb = event.name.partition(".")
        assert noun and verb.rstrip("_").isidentifier()
    assert not from_lanes("bridge")
    assert "to.site.item.published" in to_lanes("site")["control"]


def test_only_facts_without_free_text_may_be_delivered_to_the_site() -> None:
    to_site = {event.name for event in EVENTS if "site" in event.readers and event.policy == "deliver"}
    assert to_site == set(DELIVER_TO_SITE)
    assert all(event.owner == "bridge" for event in EVENTS if "site" in event.readers)
