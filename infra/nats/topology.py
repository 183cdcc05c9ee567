"""Streams, durables and rights, derived from schemas.catalogue and from nothing else."""

from dataclasses import dataclass

from schemas.catalogue import (
    LANES,
    SURFACES,
    Event,
    Lane,
    durable,
    from_stream,
    from_subject,
    owned_by,
    read_by,
    to_stream,
    to_subject,
)
from shared.asking.subjects import ANSWERS, QUEUE, STEERING, ask_subjects, heard_subjects

HUB = "HUB"
"""It alone has JetStream, and all streams lie in it. Nobody is in it but the provisioner: whoever shares an account with the API can have it
answered into the API, and an empty answer sent to STREAM.DELETE deletes."""

HUB_PREFIX = "HUB.API"
"""What the services' accounts call $JS.API: an import under its own name would ask for a JetStream of theirs."""

ANSWERER = "connectors"
"""The one service that answers requests (architecture, section 2). Its right to answer is the server's own answer subjects, which lead to
nobody but those who asked; `allow_responses` would be the same with an entry kept in memory for every request."""
ANSWER_WITHIN = "30s"
"""An answer that is silent for so long is over: the server forgets where it goes. Every running one says something every few seconds."""

ACKS = ("$JS.ACK.{stream}.{durable}.>", "$JS.ACK.*.*.{stream}.{durable}.>")
"""The form in use and the coming one (`js_ack_fc_v2`): without it acks would fail in silence after an upgrade."""


@dataclass(frozen=True)
class Durable:
    """A consumer made beforehand; `reader` pulls from it and acknowledges."""

    stream: str
    name: str
    reader: str
    subjects: tuple[str, ...]

    def api(self, verb: str, prefix: str = "$JS.API") -> str:
        return f"{prefix}.CONSUMER.{verb}.{self.stream}.{self.name}"

    @property
    def acks(self) -> tuple[str, ...]:
        return tuple(pattern.format(stream=self.stream, durable=self.name) for pattern in ACKS)


@dataclass(frozen=True)
class Stream:
    name: str
    subject: str


def account(service: str) -> str:
    return service.upper()


def inbox(service: str) -> str:
    return f"_INBOX_{service}"


def streams() -> tuple[Stream, ...]:
    """Two per surface: what it says, and what it is told."""
    said = [Stream(from_stream(surface), f"from.{surface}.>") for surface in SURFACES]
    told = [Stream(to_stream(surface), f"to.{surface}.>") for surface in SURFACES]
    return (*said, *told)


def durables() -> tuple[Durable, ...]:
    found: list[Durable] = []
    for surface in SURFACES:
        said = [(event, from_subject(surface, event.name)) for event in owned_by(surface)]
        told = [(event, to_subject(surface, event.name)) for event in read_by(surface)]
        found += _by_lane(from_stream(surface), "bridge", said, f"from.{surface}.>")
        found += _by_lane(to_stream(surface), surface, told, f"to.{surface}.>")
    return tuple(found)


def _by_lane(stream: str, reader: str, events: list[tuple[Event, str]], everything: str) -> list[Durable]:
    found = []
    for lane in LANES:
        subjects = tuple(subject for event, subject in events if event.lane == lane)
        if lane == "control" and not events:
            subjects = (everything,)
        if subjects:
            found.append(_durable(stream, reader, lane, subjects))
    return found


def _durable(stream: str, reader: str, lane: Lane, subjects: tuple[str, ...]) -> Durable:
    return Durable(stream, durable(reader, lane), reader, subjects)


def read_durables(service: str) -> tuple[Durable, ...]:
    return tuple(each for each in durables() if each.reader == service)


def published_subjects(service: str) -> tuple[str, ...]:
    """Exactly the catalogue's subjects: what has no entry cannot even be said."""
    if service != "bridge":
        return tuple(from_subject(service, event.name) for event in owned_by(service))
    return tuple(to_subject(surface, event.name) for surface in SURFACES for event in read_by(surface))


def exported_subjects(service: str) -> tuple[str, ...]:
    """What an account may send into the streams at most; its user's rights are narrower."""
    return tuple(f"to.{surface}.>" for surface in SURFACES) if service == "bridge" else (f"from.{service}.>",)


def publish_rights(service: str) -> tuple[str, ...]:
    """Everything a service may publish to: its subjects, what it may ask, and NEXT, INFO and ACK of its own durables."""
    rights = [*published_subjects(service), *ask_subjects(service)]
    if service == ANSWERER:
        rights.append(ANSWERS)
    for each in read_durables(service):
        rights += [each.api("MSG.NEXT", HUB_PREFIX), each.api("INFO", HUB_PREFIX), *each.acks]
    return tuple(rights)


def subscribe_rights(service: str) -> tuple[str, ...]:
    """Its own inbox. The connectors also hear what is asked of them: requests shared among their instances, the rest each."""
    heard = heard_subjects() if service == ANSWERER else ()
    return (f"{inbox(service)}.>", *(_shared(subject) for subject in heard))


def _shared(subject: str) -> str:
    return subject if subject.rpartition(".")[2] in STEERING else f"{subject} {QUEUE}"


ADMIN_PUBLISHES = (
    "$JS.API.STREAM.CREATE.*",
    "$JS.API.STREAM.UPDATE.*",
    "$JS.API.STREAM.INFO.*",
    "$JS.API.CONSUMER.CREATE.*.>",
    "$JS.API.CONSUMER.INFO.*.*",
    "$JS.API.CONSUMER.NAMES.*",
    "$JS.API.STREAM.LIST",
    "$JS.API.CONSUMER.LIST.*",
    "$JS.API.STREAM.PURGE.*",
)
"""The provisioner makes, looks, and trims what was read (infra.nats.trim); it cannot read or delete a message."""

SYSTEM = "SYS"
"""In a cluster: the servers' own account."""

PACER_PUBLISHES = ("$SYS.REQ.SERVER.PING.RAFTZ", "$NRG.V.*")
"""Asking the servers who leads, and asking for a vote (infra.nats.pace)."""
