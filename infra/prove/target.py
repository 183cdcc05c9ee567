"""The installation under attack."""

import fcntl
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from infra.local.layout import ALL_USERS
from infra.observe.crew import Attempt, Crew, Outcome
from infra.observe.installation import Installation
from shared.errors import Refused

__all__ = ["Attempt", "Outcome", "Target"]


@dataclass(frozen=True)
class Target(Installation):
    """`token` marks everything that this run forges."""

    token: str = field(default_factory=lambda: secrets.token_hex(8))

    @cached_property
    def users(self) -> tuple[str, ...]:
        """OS users that attack: every one of ours, or the only one."""
        return ALL_USERS if self.separated else ("console",)

    @cached_property
    def crew(self) -> Crew:
        return Crew(self.who, self.runtime, "infra.prove.actor")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One run at a time: a second one would take the first one's decoys for holes. Refused while another runs."""
        with self.layout.config.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Refused(f"`schleuse prove` is already running on {self.layout.state}", code="running") from None
            yield
