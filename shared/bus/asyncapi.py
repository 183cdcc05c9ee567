"""AsyncAPI 3 of a service: complete for somebody who has these documents and nothing else.

FastStream makes the addresses and payload schemas from what is declared (shared.bus.declared). What a stranger needs beside
them stands here: headers, the seal, TLS first, the API's prefix, streams, durables, examples.
"""

import json
from pathlib import Path
from typing import Any

import schemas
from schemas.catalogue import Event, durable, from_stream, to_stream
from schemas.model import MAX_EVENT
from shared.bus.asyncapi_words import description
from shared.bus.connection import API_PREFIX
from shared.bus.declared import declared_document, message_model, received_by, sent_by
from shared.outbox.seal import HEADER

Json = dict[str, Any]
EXAMPLES = Path(schemas.__file__).parent / "examples"
VERSION = "3.0.0"
"""Of the documents, as schemas/CHANGELOG.md counts it."""
MEDIA_TYPE = "application/cloudevents+json"
SEAL = (
    "1 0a29bdf95ea78250 mKxRzpYcMzxW1QJ0bYjXnNXgYwVvPZCkFvOq0kzF8Gm2VY0bqyoPsLq2QwIY0b4pJkKq0Y6bq3bT9vJ7cW5RDA== 0 1 "
)


def specification(service: str) -> Json:
    """The AsyncAPI 3.0 document as JSON values."""
    received, sent, declared = received_by(service), sent_by(service), declared_document(service)
    sealed = service != "bridge"
    channels = {subject: _channel(event, subject, declared) for event, subject in (*received, *sent)}
    operations = {f"receive.{subject}": _receive(service, event, subject) for event, subject in received}
    operations |= {f"send.{subject}": _send(event, subject) for event, subject in sent}
    return {
        "asyncapi": "3.0.0",
        "id": f"urn:schleuse:{service}",
        "info": _info(service, sealed=sealed),
        "defaultContentType": MEDIA_TYPE,
        "servers": {"bus": _server(service)},
        "channels": channels,
        "operations": operations,
        "components": {
            "messages": _messages(received, sent, sealed_in=sealed, sealed_out=not sealed),
            "schemas": _plain(declared["components"]["schemas"]) | _header_schemas(),
            "securitySchemes": {"nkey": _nkey(service)},
        },
    }


def _info(service: str, *, sealed: bool) -> Json:
    return {
        "title": f"Schleuse bus: {service}",
        "version": VERSION,
        "description": description(service, reads_sealed=sealed),
        "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        "contact": {"name": "Whoever operates this installation"},
        "tags": [{"name": service, "description": f"What the service {service} reads and publishes."}],
    }


def _server(service: str) -> Json:
    return {
        "host": "localhost:{port}",
        "protocol": "nats",
        "protocolVersion": "1",
        "title": "The installation's bus",
        "description": "NATS with JetStream, TLS first. In a cluster there are three servers; any of them will do.",
        "variables": {"port": {"default": "8423", "description": "The port base of the installation plus 3."}},
        "security": [{"$ref": "#/components/securitySchemes/nkey"}],
        "x-tls": {"first": True, "minimumVersion": "1.3", "ca": "tls/ca.pem", "serverName": "localhost"},
        "x-inbox-prefix": f"_INBOX_{service}",
        "x-jetstream-api-prefix": API_PREFIX,
    }


def _nkey(service: str) -> Json:
    text = f"An Ed25519 nkey (NATS, ADR-14): sign the nonce of the server's INFO. The seed lies in keys/{service}/bus.nk and belongs to that service alone."
    return {"type": "asymmetricEncryption", "description": text}


def _channel(event: Event, subject: str, declared: Json) -> Json:
    return {
        "address": declared["channels"][subject]["address"],
        "title": event.name,
        "summary": event.about,
        "servers": [{"$ref": "#/servers/bus"}],
        "messages": {
            _message_key(event, version): {"$ref": f"#/components/messages/{_message_name(subject, event, version)}"}
            for version in sorted(event.data)
        },
    }


def _operation(action: str, event: Event, subject: str, summary: str, more: Json) -> Json:
    there = f"#/channels/{subject}"
    messages = [{"$ref": f"{there}/messages/{_message_key(event, version)}"} for version in sorted(event.data)]
    return {
        "action": action,
        "channel": {"$ref": there},
        "title": subject,
        "summary": summary,
        "description": event.about,
        "messages": messages,
    } | more


def _receive(service: str, event: Event, subject: str) -> Json:
    stream = from_stream(event.owner) if service == "bridge" else to_stream(service)
    name = durable(service, event.lane)
    reading = {
        "stream": stream,
        "durable": name,
        "pull": f"{API_PREFIX}.CONSUMER.MSG.NEXT.{stream}.{name}",
        "ack": "explicit",
        "lane": event.lane,
    }
    return _operation("receive", event, subject, f"Pulled from {name} on {stream}.", {"x-jetstream": reading})


def _send(event: Event, subject: str) -> Json:
    policy = "The lock delivers it." if event.policy == "deliver" else "The lock holds it for a person's review."
    more = {"x-jetstream": {"answer": "PubAck", "dedupe": "Nats-Msg-Id", "maxBytes": MAX_EVENT}}
    return _operation("send", event, subject, policy, more)


def _messages(received: list[tuple[Event, str]], sent: list[tuple[Event, str]], *, sealed_in: bool, sealed_out: bool) -> Json:  # fmt: skip
    ways = [(event, subject, sealed_in) for event, subject in received]
    ways += [(event, subject, sealed_out) for event, subject in sent]
    return {
        _message_name(subject, event, version): _message(event, version, sealed=sealed)
        for event, subject, sealed in ways
        for version in sorted(event.data)
    }


def _message(event: Event, version: int, *, sealed: bool) -> Json:
    example: Json = json.loads((EXAMPLES / event.owner / f"{event.name}.v{version}.json").read_text())
    headers = {"Nats-Msg-Id": example["id"]} | ({HEADER: SEAL} if sealed else {})
    return {
        "name": event.ce_type,
        "title": f"{event.name}, version {version}",
        "summary": event.about,
        "contentType": MEDIA_TYPE,
        "headers": {"$ref": f"#/components/schemas/{'SealedHeaders' if sealed else 'Headers'}"},
        "payload": {"$ref": f"#/components/schemas/{message_model(event, version).__name__}"},
        "correlationId": {
            "description": "What the event belongs to, where it belongs to something.",
            "location": "$message.payload#/correlationid",
        },
        "examples": [
            {"name": "golden", "summary": "Every version must read this.", "headers": headers, "payload": example}
        ],
        "x-dataschema": event.schema_name(version),
    }


def _header_schemas() -> Json:
    identity = {
        "type": "string",
        "format": "uuid",
        "description": "The event's id. Within two minutes the stream takes the same id once.",
    }
    seal = {
        "type": "string",
        "pattern": r"^1 [0-9a-f]{16} [A-Za-z0-9+/=]{88} \d{1,6} \d{1,6}( [A-Za-z0-9+/=]*)?$",
        "description": "The bridge's seal: `1 <key id> <signature> <index> <count> <path>`; see the document's description.",
    }
    about = "Headers that begin with `Nats-` are the server's; readers ignore those that they do not know."
    plain = {"type": "object", "description": about, "properties": {"Nats-Msg-Id": identity}}
    both = {"Nats-Msg-Id": identity, HEADER: seal}
    return {
        "Headers": plain | {"required": ["Nats-Msg-Id"]},
        "SealedHeaders": plain | {"properties": both, "required": ["Nats-Msg-Id", HEADER]},
    }


def _plain(value: Any) -> Any:
    """Bytes are base64 text on the wire, which the schema says in its own words."""
    if isinstance(value, dict):
        if value.get("format") == "binary":
            return {key: each for key, each in value.items() if key != "format"} | {"contentEncoding": "base64"}
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _message_key(event: Event, version: int) -> str:
    return f"{event.name}.v{version}"


def _message_name(subject: str, event: Event, version: int) -> str:
    return f"{subject}.v{version}"
