"""The installation under attack."""

import fcntl
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from infra.local import config as configs
from infra.local.layout import ALL_USERS
from infra.observe.crew import Attempt, Crew, Outcome
from infra.observe.installation import Installation
from infra.prove.fetch import Front
from shared.errors import Refused

__all__ = ["Attempt", "Outcome", "Target"]


@dataclass(frozen=True)
class Target(Installation):
    """`token` marks everything that this run forges."""

    token: str = field(default_factory=lambda: secrets.token_hex(8))

    @classmethod
    def load(cls, state: Path) -> Self:
        """Each front is attacked where its service listens: a proxy before it must not be what keeps attackers out."""
        found = super().load(state)
        config, listen = found.config, configs.HOSTS | found.config.listen
        fronts = {name: Front.at(url, listen[name], config.ports[name]) for name, url in config.urls.items()}
        return replace(found, config=config.model_copy(update={"urls": fronts}))

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
