"""Read the events that Schleuse's bridge sends to one service, with the published documents and nothing else.

    python read.py --asyncapi asyncapi/agent.json --snapshots snapshots --server 127.0.0.1:8423 \\
        --ca tls/ca.pem --keys keys/public.json --seed keys/agent/bus.nk

Prints one JSON line per event and acknowledges it. An event that is not the bridge's, or does not fit its schema, is named on
standard error and given up; the exit code is then 1. Needs `nats-py[nkeys]` and `jsonschema`.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import logging
import ssl
import sys
from pathlib import Path
from typing import Any

import nats
from jsonschema import Draft202012Validator
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey
from nats.aio.client import Client

SEAL, PURPOSE, DUTY = "Schleuse-Seal", b"schleuse.envelope.v1", "envelope"


class Refused(Exception):
    """Not the bridge's word, or not what it should look like."""


class Seals:
    """The bridge's seal: a signed Merkle root, and each event's path to it."""

    def __init__(self, published: dict[str, Any]) -> None:
        self._keys = {
            each["key_id"]: VerifyKey(base64.b64decode(each["public_key"])) for each in published.get(DUTY, [])
        }

    def check(self, seal: str | None, subject: str, body: bytes) -> None:
        words = (seal or "").split(" ")
        if len(words) not in (5, 6) or words[0] != "1":
            raise Refused("there is no seal, or one of another version")
        try:
            signature = base64.b64decode(words[2], validate=True)
            path = base64.b64decode(words[5] if len(words) == 6 else "", validate=True)
            index, count = int(words[3]), int(words[4])
        except ValueError:
            raise Refused("the seal cannot be read") from None
        key = self._keys.get(words[1])
        if key is None:
            raise Refused(f"no {DUTY} key is named {words[1]}")
        root = climb(hashlib.sha256(b"\x00" + subject.encode() + b"\x00" + body).digest(), index, count, path)
        try:
            key.verify(PURPOSE + b"\x00" + root, signature)
        except (BadSignatureError, ValueError):
            raise Refused("the seal is not the bridge's, or the event was changed") from None


def climb(node: bytes, index: int, count: int, path: bytes) -> bytes:
    if not 0 <= index < count <= 100_000:
        raise Refused("the seal names a place that is not in the tree")
    while count > 1:
        if index ^ 1 < count:
            sibling, path = path[:32], path[32:]
            node = hashlib.sha256(b"\x01" + (sibling + node if index & 1 else node + sibling)).digest()
        index, count = index // 2, (count + 1) // 2
    if path:
        raise Refused("the seal's path is too long")
    return node


class Contract:
    """What the AsyncAPI document says about this reader."""

    def __init__(self, document: dict[str, Any], snapshots: Path) -> None:
        server = document["servers"]["bus"]
        self.inbox, self.prefix = server["x-inbox-prefix"], server["x-jetstream-api-prefix"]
        self._channels, self._messages = document["channels"], document["components"]["messages"]
        self._snapshots = snapshots
        receive = [each["x-jetstream"] for each in document["operations"].values() if each["action"] == "receive"]
        self.durables = sorted({(each["stream"], each["durable"]) for each in receive})

    def read(self, subject: str, body: bytes) -> dict[str, Any]:
        """The event. Refused when it is none of this channel's, or does not fit."""
        try:
            event: dict[str, Any] = json.loads(body)
        except ValueError:
            raise Refused("the body is no JSON") from None
        channel = self._channels.get(subject)
        if channel is None:
            raise Refused(f"nothing is published on {subject}")
        for reference in channel["messages"].values():
            message = self._messages[reference["$ref"].rsplit("/", 1)[1]]
            if message["x-dataschema"] == event.get("dataschema"):
                return self._fitting(message, event)
        raise Refused(f"{subject} carries no {event.get('dataschema')}")

    def _fitting(self, message: dict[str, Any], event: dict[str, Any]) -> dict[str, Any]:
        _, owner, name, version = message["x-dataschema"].split("/")
        if (event.get("source"), event.get("type")) != (f"/{owner}", message["name"]):
            raise Refused(f"{event.get('type')} from {event.get('source')} is not what belongs here")
        schema = json.loads((self._snapshots / owner / f"{name}.{version}.json").read_text())
        fault = next(Draft202012Validator(schema).iter_errors(event.get("data")), None)
        if fault is not None:
            raise Refused(f"data does not fit {message['x-dataschema']}: {fault.json_path}")
        return event


async def tell(error: Exception) -> None:
    if not isinstance(error, ssl.SSLError):  # a server that still sends while the connection is closed is no fault
        print(f"bus: {error}", file=sys.stderr, flush=True)


async def connect(given: argparse.Namespace, contract: Contract) -> Client:
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.minimum_version = ssl.TLSVersion.TLSv1_3
    trust.load_verify_locations(cafile=str(given.ca))
    return await nats.connect(
        f"tls://{given.server}",
        tls=trust,
        tls_hostname="localhost",
        tls_handshake_first=True,
        nkeys_seed=str(given.seed),
        inbox_prefix=contract.inbox.encode(),
        error_cb=tell,
        allow_reconnect=False,  # it is an example: start it again
    )


async def read(given: argparse.Namespace) -> int:
    contract = Contract(json.loads(given.asyncapi.read_text()), given.snapshots)
    seals = Seals(json.loads(given.keys.read_text()))
    client = await connect(given, contract)
    refused = 0
    newest: dict[tuple[str, str, str], int] = {}
    seen: set[str] = set()
    try:
        js = client.jetstream(prefix=contract.prefix)
        for stream, durable in contract.durables:
            pull = await js.pull_subscribe_bind(durable, stream, inbox_prefix=f"{contract.inbox}.".encode())
            while messages := await fetch(pull, given.wait):
                for message in messages:
                    try:
                        seals.check((message.headers or {}).get(SEAL), message.subject, message.data)
                        event = contract.read(message.subject, message.data)
                    except Refused as error:
                        refused += 1
                        print(f"refused on {message.subject}: {error}", file=sys.stderr, flush=True)
                        await message.term()
                        continue
                    apply(event, newest, seen)
                    await message.ack_sync()
    finally:
        await client.close()
    return 1 if refused else 0


async def fetch(pull: Any, wait: float) -> list[Any]:
    try:
        found: list[Any] = await pull.fetch(100, timeout=wait)
    except TimeoutError:
        return []
    return found


def apply(event: dict[str, Any], newest: dict[tuple[str, str, str], int], seen: set[str]) -> None:
    """Print it: once, and only when it is newer than what is known of the same thing. A service would do this in one transaction."""
    thing = (event["source"], event["type"], event["key"])
    fresh = event["id"] not in seen and event["keyversion"] > newest.get(thing, -1)
    seen.add(event["id"])
    if fresh:
        newest[thing] = event["keyversion"]
    shown = {name: event[name] for name in ("type", "id", "key", "keyversion", "time")}
    print(json.dumps(shown | {"applied": fresh}), flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    for name, about in (
        ("asyncapi", "the service's AsyncAPI document"),
        ("snapshots", "folder of JSON Schemas"),
        ("ca", "the bus's certificate"),
        ("keys", "public.json"),
        ("seed", "the service's nkey seed"),
    ):
        parser.add_argument(f"--{name}", type=Path, required=True, help=about)
    parser.add_argument("--server", default="127.0.0.1:8423", help="host:port of the bus")
    parser.add_argument("--wait", type=float, default=2.0, help="seconds without an event after which it ends")
    return parser.parse_args()


if __name__ == "__main__":
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # its remark on a closed TLS connection says nothing
    sys.exit(asyncio.run(read(arguments())))
