"""Every event once: who owns it, who reads it, which policy the lock applies, which lane it takes.

Streams, durables, accounts, exports, imports and permissions are generated from here (infra/nats), the lock's default
policies too (services/bridge), and `make path EVENT=item.decided` follows an event from here through the code.
What has no entry does not cross.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from schemas.agent import v1 as agent
from schemas.bridge import v1 as bridge
from schemas.connectors import v1 as connectors
from schemas.connectors import v2 as connectors2
from schemas.console import v1 as console
from schemas.envelope import TYPE_PREFIX
from schemas.model import Data
from schemas.site import v1 as site

Service = Literal["agent", "console", "site", "connectors", "bridge"]
SURFACES: tuple[Service, ...] = ("agent", "console", "site", "connectors")
SERVICES: tuple[Service, ...] = (*SURFACES, "bridge")
Policy = Literal["deliver", "review", "block"]
Lane = Literal["control", "bulk"]
LANES: tuple[Lane, ...] = ("control", "bulk")


@dataclass(frozen=True, eq=False)
class Event:
    """One event type. `data` maps version to model; `readers` are its final readers.

    control: a signed or structural fact whose policy cannot be switched. lane: `bulk` events (signals, call audit, and
    submissions, which wait for inspection) travel on durables and relay lanes of their own, so that a backlog of them
    delays no decision. masses: comes in thousands; traced by batch, not one by one.
    """

    name: str
    owner: Service
    readers: tuple[Service, ...]
    data: dict[int, type[Data]]
    policy: Policy
    about: str
    control: bool = False
    lane: Lane = "control"
    masses: bool = False

    @property
    def ce_type(self) -> str:
        return TYPE_PREFIX + self.name

    @property
    def version(self) -> int:
        """The newest version, which the owner writes."""
        return max(self.data)

    @property
    def model(self) -> type[Data]:
        return self.data[self.version]

    def schema_name(self, version: int | None = None) -> str:
        return f"schleuse/{self.owner}/{self.name}/v{version or self.version}"

    @property
    def crosses(self) -> bool:
        """Whether a surface publishes it, so that it comes to the lock on a FROM stream."""
        return self.owner != "bridge"


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


EVENTS: tuple[Event, ...] = (
    # console
    Event(
        "item.submitted",
        "console",
        ("bridge",),
        {1: console.ItemSubmitted},
        "review",
        "An item or a new revision of one is handed to the lock.",
        lane="bulk",
    ),
    Event(
        "item.decided",
        "console",
        ("bridge",),
        {1: console.ItemDecided},
        "deliver",
        "A person decided on one exact revision; signed.",
        control=True,
    ),
    Event(
        "item.withdrawn",
        "console",
        ("bridge",),
        {1: console.ItemWithdrawn},
        "deliver",
        "A person takes an item back; signed.",
        control=True,
    ),
    Event(
        "item.undone",
        "console",
        ("bridge",),
        {1: console.ItemUndone},
        "deliver",
        "A person takes a decision of the last ten minutes back; signed.",
        control=True,
    ),
    Event(
        "switch.set",
        "console",
        ("bridge",),
        {1: console.SwitchSet},
        "deliver",
        "A person set a switch; signed.",
        control=True,
    ),
    Event(
        "key.changed",
        "console",
        ("bridge",),
        {1: console.KeyChanged},
        "deliver",
        "A decision key was added or revoked; signed.",
        control=True,
    ),
    Event(
        "person.changed",
        "console",
        ("bridge",),
        {1: console.PersonChanged},
        "deliver",
        "A person or guest was invited, has another role, was shut out, or signed out everywhere; signed.",
        control=True,
    ),
    Event(
        "session.ended",
        "console",
        ("bridge",),
        {1: console.SessionEnded},
        "deliver",
        "A person signed out in one browser; signed.",
        control=True,
    ),
    Event(
        "secret.sealed",
        "console",
        ("connectors",),
        {1: console.SecretSealed},
        "deliver",
        "A person put, replaced, restored, narrowed or revoked a secret; signed, the value sealed.",
        control=True,
    ),
    Event(
        "connector.declared",
        "console",
        ("connectors",),
        {1: console.ConnectorDeclared},
        "deliver",
        "A person declared a connector, or turned it on or off; signed.",
        control=True,
    ),
    Event(
        "card.decided",
        "console",
        ("connectors",),
        {1: console.CardDecided},
        "deliver",
        "A person decided on a card, or took that back; signed.",
        control=True,
    ),
    Event(
        "setting.decided",
        "console",
        ("agent",),
        {1: console.SettingDecided},
        "deliver",
        "A person set how the agent works: a spend cap, its model; signed.",
        control=True,
    ),
    Event(
        "action.decided",
        "console",
        ("agent", "connectors"),
        {1: console.ActionDecided},
        "deliver",
        "A person decided on what the agent would do in a tainted conversation, or on an automation, for which the connectors then act; signed.",
        control=True,
    ),
    Event(
        "access.stated",
        "console",
        ("agent",),
        {1: console.AccessStated},
        "deliver",
        "A key of the agent's API is good, or is not any more; signed.",
        control=True,
    ),
    Event(
        "delegation.issued",
        "console",
        ("agent",),
        {1: console.DelegationIssued},
        "deliver",
        "The agent may act for somebody who is signed in; signed.",
        control=True,
    ),
    Event(
        "record.shared",
        "console",
        ("agent",),
        {1: console.RecordShared},
        "deliver",
        "Staff let the agent read a record.",
        lane="bulk",
    ),
    Event(
        "record.unshared",
        "console",
        ("agent",),
        {1: console.RecordUnshared},
        "deliver",
        "The agent may read a record no more.",
        lane="bulk",
    ),
    Event(
        "mail_account.stated",
        "console",
        ("agent",),
        {1: console.MailAccountStated},
        "deliver",
        "A person has a mail account, or has it no more; without its passwords.",
        control=True,
    ),
    # agent
    Event(
        "item.proposed",
        "agent",
        ("bridge",),
        {1: agent.ItemProposed},
        "review",
        "The agent proposes an item for review.",
        lane="bulk",
    ),
    Event(
        "usage.recorded",
        "agent",
        ("console",),
        {1: agent.UsageRecorded},
        "deliver",
        "Rows of the usage ledger.",
        lane="bulk",
        masses=True,
    ),
    Event(
        "setting.applied",
        "agent",
        ("console",),
        {1: agent.SettingApplied},
        "deliver",
        "A setting of the agent is in force, or was not taken.",
        control=True,
    ),
    Event(
        "action.requested",
        "agent",
        ("console",),
        {1: agent.ActionRequested},
        "deliver",
        "The agent waits for a person's decision on an action.",
        control=True,
    ),
    Event(
        "action.settled",
        "agent",
        ("console",),
        {1: agent.ActionSettled},
        "deliver",
        "What became of an action card.",
        control=True,
    ),
    Event(
        "automation.stated",
        "agent",
        ("console",),
        {1: agent.AutomationStated},
        "deliver",
        "How it stands with an automation that a person allowed.",
        control=True,
    ),
    Event(
        "mail_account.closed",
        "agent",
        ("console",),
        {1: agent.MailAccountClosed},
        "deliver",
        "An owner wants a mail account gone, with its passwords.",
        control=True,
    ),
    # connectors
    Event(
        "call.audited",
        "connectors",
        ("console",),
        {1: connectors.CallAudited, 2: connectors2.CallAudited},
        "deliver",
        "A call to a third party, or what else the connectors did, was recorded.",
        lane="bulk",
        masses=True,
    ),
    Event(
        "secret.applied",
        "connectors",
        ("console",),
        {1: connectors.SecretApplied},
        "deliver",
        "What counts of a secret at the connectors.",
        control=True,
    ),
    Event(
        "connector.applied",
        "connectors",
        ("console",),
        {1: connectors.ConnectorApplied},
        "deliver",
        "A connector's declaration is in force.",
        control=True,
    ),
    Event(
        "connector.checked",
        "connectors",
        ("console",),
        {1: connectors.ConnectorChecked},
        "deliver",
        "A connector answers, or does not.",
        control=True,
    ),
    Event(
        "card.requested",
        "connectors",
        ("console",),
        {1: connectors.CardRequested},
        "deliver",
        "Somebody waits for a person's decision on a use of a connector.",
        control=True,
    ),
    Event(
        "card.settled",
        "connectors",
        ("console", "agent"),
        {1: connectors.CardSettled},
        "deliver",
        "What was decided on a card is in force, or its time is over.",
        control=True,
    ),
    Event(
        "change.refused",
        "connectors",
        ("console",),
        {1: connectors.ChangeRefused},
        "deliver",
        "The connectors did not take a person's statement; nothing changed.",
        control=True,
    ),
    Event(
        "checkpoint.signed",
        "connectors",
        ("bridge",),
        {1: connectors.CheckpointSigned},
        "deliver",
        "A signed checkpoint of the call audit.",
        control=True,
    ),
    Event(
        "fingerprints.taken",
        "connectors",
        ("bridge",),
        {1: connectors.FingerprintsTaken},
        "deliver",
        "Keyed fingerprints of the secrets, for the lock's inspection.",
        control=True,
    ),
    # site
    Event(
        "signals.recorded",
        "site",
        ("console",),
        {1: site.SignalsRecorded},
        "deliver",
        "Up to 100 interactions of visitors.",
        lane="bulk",
        masses=True,
    ),
    Event(
        "item.applied",
        "site",
        ("console",),
        {1: site.ItemApplied},
        "deliver",
        "The site shows, or no longer shows, an item.",
        control=True,
    ),
    Event(
        "gate.requested",
        "site",
        ("bridge",),
        {1: site.GateRequested},
        "deliver",
        "The site asks for entries it may have missed.",
        control=True,
    ),
    Event(
        "row.rejected",
        "site",
        ("console",),
        {1: site.RowRejected},
        "deliver",
        "A row without a valid receipt was found and not rendered.",
        control=True,
    ),
    # bridge
    Event(
        "item.queued",
        "bridge",
        ("console",),
        {1: bridge.ItemQueued},
        "deliver",
        "A revision was inspected and waits for review.",
    ),
    Event(
        "item.moved",
        "bridge",
        ("console",),
        {1: bridge.ItemMoved},
        "deliver",
        "An item's revision changed state.",
        control=True,
    ),
    Event(
        "submission.refused",
        "bridge",
        ("console",),
        {1: bridge.SubmissionRefused},
        "deliver",
        "The lock refused a submission.",
    ),
    Event(
        "decision.refused",
        "bridge",
        ("console",),
        {1: bridge.DecisionRefused},
        "deliver",
        "The lock refused a decision; nothing changed.",
        control=True,
    ),
    Event(
        "switch.applied",
        "bridge",
        ("console",),
        {1: bridge.SwitchApplied},
        "deliver",
        "A switch is in force.",
        control=True,
    ),
    Event(
        "key.applied",
        "bridge",
        ("console",),
        {1: bridge.KeyApplied},
        "deliver",
        "A decision key counts, or counts no more, at the lock.",
        control=True,
    ),
    Event(
        "item.published",
        "bridge",
        ("site",),
        {1: bridge.ItemPublished},
        "review",
        "The receipt: an approved revision with both signatures.",
        control=True,
    ),
    Event(
        "item.retracted",
        "bridge",
        ("site",),
        {1: bridge.ItemRetracted},
        "deliver",
        "A withdrawal with both signatures.",
        control=True,
    ),
    Event(
        "mode.entered",
        "bridge",
        ("site",),
        {1: bridge.ModeEntered},
        "deliver",
        "The site's mode, with both signatures.",
        control=True,
    ),
    Event(
        "key.recorded",
        "bridge",
        ("site", "connectors", "agent"),
        {1: bridge.KeyRecorded},
        "deliver",
        "A decision key was added or revoked.",
        control=True,
    ),
    Event(
        "person.recorded",
        "bridge",
        ("agent", "site"),
        {1: bridge.PersonRecorded},
        "deliver",
        "What a person or guest may do at a surface, with the console's signature.",
        control=True,
    ),
    Event(
        "session.closed",
        "bridge",
        ("agent", "site"),
        {1: bridge.SessionClosed},
        "deliver",
        "A sign-in is over, with the console's signature.",
        control=True,
    ),
    Event(
        "checkpoint.countersigned",
        "bridge",
        ("connectors", "console"),
        {1: bridge.CheckpointCountersigned},
        "deliver",
        "A checkpoint of the call audit that the lock has witnessed.",
        control=True,
    ),
    Event(
        "proposal.moved",
        "bridge",
        ("agent",),
        {1: bridge.ProposalMoved},
        "deliver",
        "What became of the agent's proposal.",
        control=True,
    ),
    Event(
        "head.sealed",
        "bridge",
        ("site",),
        {1: bridge.HeadSealed},
        "deliver",
        "The newest signed head of the gate's log.",
        control=True,
    ),
)

BY_NAME: dict[str, Event] = {event.name: event for event in EVENTS}
DELIVER_TO_SITE: tuple[str, ...] = (
    "item.retracted",
    "mode.entered",
    "key.recorded",
    "person.recorded",
    "session.closed",
    "head.sealed",
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
