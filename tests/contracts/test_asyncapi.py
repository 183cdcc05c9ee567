"""The AsyncAPI documents, as AsyncAPI's own parser reads them, and the seal's published examples."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemas.catalogue import EVENTS, SERVICES, SURFACES, owned_by, read_by
from shared.bus.asyncapi import specification
from shared.errors import BadSignature
from shared.outbox.seal import SealChecker
from shared.signing import PublicKeys
from tests.contracts import vectors
from tests.contracts.contracts import ROOT, as_text, asyncapi_path

MODULES = ROOT.parent / ".cache" / "asyncapi"
PARSE = Path(__file__).with_name("parse_asyncapi.mjs")
KNOWN = {"asyncapi-latest-version"}
"""3.0.0 is what tools read; the parser would like 3.1.0 better."""


def parsed(*files: Path) -> list[dict[str, Any]]:
    if not (MODULES / "node_modules" / "@asyncapi" / "parser").is_dir() or not shutil.which("node"):
        pytest.skip("AsyncAPI's parser is not in .cache (npm could not be used); the documents were not parsed")
    command = ["node", str(PARSE), str(MODULES), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the parser says of each document, and of `wrong`: one that sends what its channel does not carry."""
    wrong = specification("agent")
    wrong["operations"]["receive.to.agent.session.closed"]["messages"] = [{"$ref": "#/components/messages/none"}]
    planted = tmp_path_factory.mktemp("asyncapi") / "wrong.json"
    planted.write_text(json.dumps(wrong))
    return {Path(each["file"]).stem: each for each in parsed(*map(asyncapi_path, SURFACES), planted)}


@pytest.mark.parametrize("service", SURFACES)
def test_asyncapis_own_parser_has_nothing_to_say(said: dict[str, dict[str, Any]], service: str) -> None:
    agrees(said[service], service)


@pytest.mark.long
def test_nor_about_the_bridges_which_is_large() -> None:
    [found] = parsed(asyncapi_path("bridge"))
    agrees(found, "bridge")


def agrees(found: dict[str, Any], service: str) -> None:
    assert [each for each in found["said"] if each["code"] not in KNOWN] == []
    ways = [*read_by(service), *owned_by(service)]
    if service == "bridge":
        ways = [*read_by(service), *(event for event in EVENTS for reader in event.readers if reader != "bridge")]
    count, messages = len(ways), sum(len(event.data) for event in ways)
    assert found["counts"] == {"channels": count, "operations": count, "messages": messages}


def test_the_parser_finds_what_is_wrong(said: dict[str, dict[str, Any]]) -> None:
    assert "error" in {each["level"] for each in said["wrong"]["said"]}


@pytest.mark.parametrize("service", SERVICES)
def test_a_document_is_complete_for_a_stranger(service: str) -> None:
    document = specification(service)
    server = document["servers"]["bus"]
    assert server["protocol"] == "nats" and server["security"] and server["x-inbox-prefix"]
    for channel in document["channels"].values():
        assert channel["address"] and channel["summary"] and channel["messages"]
    for name, operation in document["operations"].items():
        assert operation["action"] == name.split(".")[0]
        assert operation["x-jetstream"]
    for name, message in document["components"]["messages"].items():
        assert message["contentType"] == "application/cloudevents+json"
        sealed = "Schleuse-Seal" in message["examples"][0]["headers"]
        assert sealed == name.startswith("to."), "the bridge seals what it sends, and nobody else"
    for each in ("apiPrefix", "_INBOX_", "handshake comes first", "+ACK", "Nats-Msg-Id", "keyversion"):
        assert each in document["info"]["description"]
    assert ("Check the seal" in document["info"]["description"]) == (service != "bridge")


@pytest.mark.parametrize("service", SERVICES)
def test_examples_fit_their_schemas_without_our_code(service: str) -> None:
    document = specification(service)
    for name, message in document["components"]["messages"].items():
        for part in ("headers", "payload"):
            schema = {**message[part], "components": document["components"]}
            validator = Draft202012Validator(schema)
            assert [str(error) for error in validator.iter_errors(message["examples"][0][part])] == [], name


def test_the_seals_examples_are_as_committed() -> None:
    assert as_text(vectors.vectors()) == vectors.PATH.read_text()


def test_the_seals_examples_are_true(tmp_path: Path) -> None:
    found = vectors.vectors()
    published = tmp_path / "public.json"
    published.write_text(json.dumps(found["keys"]))
    for each in found["good"]:
        SealChecker(PublicKeys.load(published)).check(each["seal"], each["subject"], each["body"].encode())
    for each in found["forged"]:
        with pytest.raises(BadSignature):
            SealChecker(PublicKeys.load(published)).check(each["seal"], each["subject"], each["body"].encode())
