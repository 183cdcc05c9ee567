"""Every event once: who owns it, who reads it, which policy the lock applies, which lane it takes.

Streams, durables, accounts, exports, imports and permissions are generated from here (infra/nats), the lock's default
policies too (services/bridge), and `make path EVENT=item.decided` follows an event from here through the code.
What has no entry does not cross.
"""

from collections.abc import Iterable

from schemas.event import LANES, SERVICES, SURFACES, Event, Lane, Policy, Service
from schemas.events import agent, bridge, connectors, console, site

__all__ = [
    "BY_NAME",
    "DELIVER_TO_SITE",
    "EVENTS",
    "LANES",
    "SERVICES",
    "SURFACES",
    "Event",
    "Lane",
    "Policy",
    "Service",
]


def from_subject(service: str, name: str) -> str:
    return f"from.{service}.{name}"


def to_subject(service: str, name: str) -> str:
    return f"to.{service}.{name}"


def from_stream(service: str) -> str:
    return f"FROM_{service.upper()}"


def to_stream(service: str) -> str:
    return f"TO_{service.upper()}"


def durable(reader: str, lane: Lane) -> str:
    """`bridge`, `console`, … for control; `bridge_bulk`, `console_bulk`, … beside it."""
    return reader if lane == "control" else f"{reader}_bulk"


EVENTS: tuple[Event, ...] = (*console.EVENTS, *agent.EVENTS, *connectors.EVENTS, *site.EVENTS, *bridge.EVENTS)
BY_NAME: dict[str, Event] = {event.name: event for event in EVENTS}
DELIVER_TO_SITE: tuple[str, ...] = (
    "item.retracted",
    "mode.entered",
    "key.recorded",
    "person.recorded",
    "session.closed",
    "head.sealed",
    "link.recorded",
)
"""The only types that the policy may deliver to the site without a person: none carries free text (S2)."""


def owned_by(service: str) -> Iterable[Event]:
    return (event for event in EVENTS if event.owner == service)


def read_by(service: str) -> Iterable[Event]:
    """What a service's intake must handle. The bridge also reads everything that crosses, to forward it."""
    if service == "bridge":
        return (event for event in EVENTS if event.crosses)
    return (event for event in EVENTS if service in event.readers)


def from_lanes(service: str) -> dict[Lane, list[str]]:
    """Subjects of FROM_<SERVICE> by lane; the bridge has one durable for each lane that has subjects."""
    return _by_lane((event, from_subject(service, event.name)) for event in owned_by(service) if service != "bridge")


def to_lanes(service: str) -> dict[Lane, list[str]]:
    """Subjects of TO_<SERVICE> by lane; the service has one durable for each lane that has subjects."""
    return _by_lane(
        (event, to_subject(service, event.name)) for event in EVENTS if service != "bridge" and service in event.readers
    )


def _by_lane(pairs: Iterable[tuple[Event, str]]) -> dict[Lane, list[str]]:
    found: dict[Lane, list[str]] = {}
    for event, subject in pairs:
        found.setdefault(event.lane, []).append(subject)
    return found
