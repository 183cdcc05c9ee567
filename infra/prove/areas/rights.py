"""Every service x every foreign subject, stream and consumer, with its real key."""

from infra.nats.topology import HUB_PREFIX, Durable, durables, inbox, published_subjects, read_durables, streams
from infra.prove.check import Book
from infra.prove.target import Attempt, Target
from schemas.catalogue import EVENTS, SERVICES, SURFACES, from_subject, to_subject

BROKEN = "{probe"
"""No JSON: were a request with it allowed, the server would only complain."""
NOT_EMPTY = "probe"
"""Requests that delete must be empty: with this the server refuses what it was allowed to do."""
ON_STREAM: dict[str, tuple[str, str]] = {
    "info": ("STREAM.INFO.{s}", ""),
    "create": ("STREAM.CREATE.{s}", BROKEN),
    "update": ("STREAM.UPDATE.{s}", BROKEN),
    "purge": ("STREAM.PURGE.{s}", '{"filter":"probe.nothing"}'),
    "delete": ("STREAM.DELETE.{s}", NOT_EMPTY),
    "read by sequence": ("STREAM.MSG.GET.{s}", '{"seq":1}'),
    "read directly": ("DIRECT.GET.{s}", '{"seq":1}'),
    "read the last of a subject": ("DIRECT.GET.{s}.probe", ""),
    "delete a message": ("STREAM.MSG.DELETE.{s}", BROKEN),
    "take a copy": ("STREAM.SNAPSHOT.{s}", BROKEN),
    "put a copy back": ("STREAM.RESTORE.{s}", BROKEN),
    "move its leader": ("STREAM.LEADER.STEPDOWN.{s}", BROKEN),
    "make a consumer": ("CONSUMER.CREATE.{s}.probe", BROKEN),
    "make a nameless consumer": ("CONSUMER.CREATE.{s}", BROKEN),
    "make a durable": ("CONSUMER.DURABLE.CREATE.{s}.probe", BROKEN),
    "list its consumers": ("CONSUMER.NAMES.{s}", BROKEN),
}
ON_SERVER: dict[str, str] = {
    "info": "INFO",
    "names of streams": "STREAM.NAMES",
    "list of streams": "STREAM.LIST",
    "purge an account": "ACCOUNT.PURGE.SITE",
}
EVERY_SUBJECT = sorted(
    {from_subject(event.owner, event.name) for event in EVENTS if event.crosses}
    | {to_subject(reader, event.name) for event in EVENTS for reader in event.readers if reader != "bridge"}
)
WIDE = (
    ">",
    "from.>",
    "to.>",
    "*.*.*.*",
    "_INBOX.>",
    "_R_.>",
    "$SYS.>",
    "$JS.>",
    "$JS.API.>",
    "$JS.ACK.>",
    "$JS.EVENT.ADVISORY.>",
    "HUB.API.>",
    "ask.>",
)


async def check_rights(target: Target, book: Book, service: str) -> None:
    made = [
        *_publishes(service),
        *_subscribes(service),
        *_on_streams(service),
        *_on_durables(service),
        *_control(service),
    ]
    outcomes = await target.run(service, [attempt for _, _, attempt in made])
    for (says, expected, _), outcome in zip(made, outcomes, strict=True):
        book.outcome(service, says, outcome, expected)


Made = tuple[str, str, Attempt]


def _publishes(service: str) -> list[Made]:
    own = published_subjects(service)
    foreign = [subject for subject in EVERY_SUBJECT if subject not in own]
    others = [each for each in SERVICES if each != service]
    foreign += [f"from.{service}.probe.forged", "to.agent.probe.forged", "$SYS.REQ.SERVER.PING", "$SYS.REQ.USER.INFO"]
    foreign += [f"{inbox(each)}.probe" for each in (*others, "admin")] + [
        f"ask.connectors.{each}.probe" for each in SURFACES
    ]
    return [(f"publish: {subject}", "refused", _attempt(service, "publish", [subject], BROKEN)) for subject in foreign]


def _subscribes(service: str) -> list[Made]:
    others = [f"{inbox(each)}.>" for each in (*SERVICES, "admin") if each != service]
    found = [
        (f"subscribe: {subject}", "refused", _attempt(service, "subscribe", [subject]))
        for subject in (*EVERY_SUBJECT, *WIDE, *others)
    ]
    for surface in SURFACES:
        for subject, queue in ((f"to.{surface}.>", surface), (f"from.{surface}.>", "bridge")):
            found.append(
                (
                    f"subscribe in a queue: {subject} {queue}",
                    "refused",
                    _attempt(service, "subscribe", [subject], queue=queue),
                )
            )
    return found


def _on_streams(service: str) -> list[Made]:
    found = []
    for says, (subject, body) in ON_STREAM.items():
        for stream in streams():
            subjects = _both(subject.format(s=stream.name))
            found.append((f"stream, {says}: {stream.name}", "refused", _attempt(service, "publish", subjects, body)))
    for says, subject in ON_SERVER.items():
        found.append((f"server: {says}", "refused", _attempt(service, "publish", _both(subject), BROKEN)))
    return found


def _on_durables(service: str) -> list[Made]:
    foreign = [each for each in durables() if each.reader != service]
    found = [made for each in foreign for made in _on_foreign(service, each)]
    for each in durables():
        for verb in ("DELETE", "PAUSE", "UNPIN"):
            subjects = _both(f"CONSUMER.{verb}.{each.stream}.{each.name}")
            found.append(
                (
                    f"consumer, {verb.lower()}: {each.stream} {each.name}",
                    "refused",
                    _attempt(service, "publish", subjects, NOT_EMPTY),
                )
            )
    return found


def _on_foreign(service: str, each: Durable) -> list[Made]:
    name = f"{each.stream} {each.name}"
    asks = {"next": "MSG.NEXT", "info": "INFO"}
    found = [
        (f"foreign consumer, {says}: {name}", _both(f"CONSUMER.{verb}.{each.stream}.{each.name}"), BROKEN)
        for says, verb in asks.items()
    ]
    acks = [f"{pattern.removesuffix('.>')}.1.0.0.0.0".replace("*.*", "_.probe") for pattern in each.acks]
    found.append((f"foreign consumer, ack: {name}", acks, "+WPI"))
    return [(says, "refused", _attempt(service, "publish", subjects, body)) for says, subjects, body in found]


def _control(service: str) -> list[Made]:
    """What it must be able to do: a service that can do nothing would pass everything above."""
    return [
        (
            f"own consumer, info: {each.stream} {each.name}",
            "done",
            _attempt(service, "ask", [each.api("INFO", HUB_PREFIX)]),
        )
        for each in read_durables(service)
    ]


def _both(subject: str) -> list[str]:
    """Under both names that the API could have for a service."""
    return [f"$JS.API.{subject}", f"{HUB_PREFIX}.{subject}"]


def _attempt(service: str, op: str, subjects: list[str], payload: str = "", queue: str = "") -> Attempt:
    return {"kind": "bus", "as": service, "op": op, "subjects": subjects, "payload": payload, "queue": queue}
