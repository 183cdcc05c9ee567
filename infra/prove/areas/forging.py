"""Forged reply subjects: what a service asks for must not be answered into streams, or into the API, of others.

Every request here is one that the server turns down (a broken body, a stream that is not expected), so that nothing is stored and nothing is taken; the
refusal is what would land where the reply subject points. A stream that is quiet shows whether it did.
"""

import asyncio

from infra.nats.provision import connect
from infra.nats.topology import HUB_PREFIX, published_subjects, read_durables
from infra.prove.areas.rights import BROKEN
from infra.prove.check import Book
from infra.prove.target import Attempt, Target
from schemas.catalogue import SERVICES, to_stream

SETTLE_SECONDS = 0.3
UNEXPECTED = {"Nats-Expected-Stream": "PROBE_DECOY"}
TRIES = 5
Seen = tuple[int, int, str, int]


async def check_forging(target: Target, book: Book) -> None:
    """Services one after the other, so that a trace says whose it is."""
    for service in SERVICES:
        quiet = "agent" if service == "connectors" else "connectors"
        made = _attempts(service, quiet, target.token)
        fault = await _tried(target, service, made, to_stream(quiet))
        for says, _ in made:
            book.holds(service, f"forged reply: {says}", fault)


async def _tried(target: Target, service: str, made: list[tuple[str, Attempt]], stream: str) -> str:
    """What changed in the quiet stream each time. News for the agent can fall into one try; a forgery lands in all."""
    fault = ""
    for _ in range(TRIES):
        before = await _seen(target, stream)
        await target.run(service, [attempt for _, attempt in made])
        await asyncio.sleep(SETTLE_SECONDS)
        fault = "" if await _seen(target, stream) == before else f"{stream} changed"
        if not fault:
            break
    return fault


def _attempts(service: str, quiet: str, token: str) -> list[tuple[str, Attempt]]:
    own, durable = published_subjects(service), read_durables(service)[0]
    subject = own[0]
    forged = f"to.{quiet}.probe.{token}"
    ask = {"MSG.NEXT": BROKEN, "INFO": ""}
    return [
        ("a publication answered into the API, to purge", _attempt(service, subject, f"$JS.API.STREAM.PURGE.{to_stream(quiet)}", UNEXPECTED)),
        ("a publication answered into the API, to delete", _attempt(service, subject, "$JS.API.STREAM.DELETE.PROBE_DECOY", UNEXPECTED)),
        ("a publication answered into a stream", _attempt(service, subject, forged, UNEXPECTED)),
        ("a publication answered into what the bridge reads", _attempt(service, subject, f"from.{quiet}.probe.{token}", UNEXPECTED)),
        *((f"{verb} of the own consumer answered into a stream", _attempt(service, durable.api(verb, HUB_PREFIX), forged, None, body)) for verb, body in ask.items()),
        ("NEXT of the own consumer answered into the API", _attempt(service, durable.api("MSG.NEXT", HUB_PREFIX), "$JS.API.STREAM.DELETE.PROBE_DECOY", None, BROKEN)),
        ("an acknowledgement answered into a stream", _attempt(service, f"$JS.ACK.{durable.stream}.{durable.name}.1.0.0.0.0", forged, None, "+WPI")),
    ]  # fmt: skip


def _attempt(service: str, subject: str, reply: str, headers: dict[str, str] | None, payload: str = "probe") -> Attempt:
    return {
        "kind": "bus",
        "as": service,
        "op": "publish",
        "subjects": [subject],
        "reply": reply,
        "headers": headers,
        "payload": payload,
    }


async def _seen(target: Target, stream: str) -> Seen:
    """Last sequence, first sequence, made at, consumers."""
    client = await connect(target.config.bus, target.layout.tls / "ca.pem", target.layout.admin_seed, "admin")
    try:
        info = await client.jetstream(timeout=20).stream_info(stream)
        return info.state.last_seq, info.state.first_seq, str(info.created), info.state.consumer_count
    finally:
        await client.close()
