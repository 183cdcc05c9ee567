"""One event type: who owns it, who reads it, which policy the lock applies, which lane it takes."""

from dataclasses import dataclass
from typing import Literal

from schemas.envelope import TYPE_PREFIX
from schemas.model import Data

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
