"""The installation under attack, and running attempts as one of its OS users."""

import fcntl
import grp
import os
import pwd
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Self

from infra.local import config as configs
from infra.local import control
from infra.local.identities import Identities
from infra.local.layout import ALL_USERS, GROUP, Layout
from infra.local.runtime import Runtime, here
from infra.prove.crew import Attempt, Crew, Outcome
from shared.errors import Refused
from shared.settings import Settings

__all__ = ["Attempt", "Outcome", "Target"]


@dataclass(frozen=True)
class Target:
    """A running installation. `pids`: process ids by part. `token` marks everything that this run forges."""

    layout: Layout
    config: configs.Config
    who: Identities
    runtime: Runtime
    pids: dict[str, int]
    token: str = field(default_factory=lambda: secrets.token_hex(8))

    @classmethod
    def load(cls, state: Path) -> Self:
        """Refused when it is no state directory of ours; Transient when nothing runs there."""
        layout = Layout(state.resolve())
        config = configs.read(layout)
        if config is None:
            raise Refused(f"{state} is no state directory; start one with `schleuse up`", code="state")
        if config.install_uid != os.getuid():
            raise Refused(f"only the user that installed {state} (uid {config.install_uid}) can prove it", code="user")
        pids = _pids(layout)
        return cls(layout, config, _identities(config), _runtime(layout, pids), pids)

    @property
    def separated(self) -> bool:
        return self.config.os_separation

    @cached_property
    def users(self) -> tuple[str, ...]:
        """OS users that attack: every one of ours, or the only one."""
        return ALL_USERS if self.separated else ("console",)

    @cached_property
    def _crew(self) -> Crew:
        return Crew(self.who, self.runtime)

    def settings(self, service: str) -> Settings:
        return Settings.load(service, self.layout.state)

    async def run(self, user: str, attempts: list[Attempt]) -> list[Outcome]:
        """Make the attempts in the process of that OS user (an entry of config.users); one outcome for each."""
        if not attempts:
            return []
        attacker = await self._crew.attacker(user)
        return await attacker.make(str(self.layout.state), attempts)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One run at a time: a second one would take the first one's decoys for holes. Refused while another runs."""
        with self.layout.config.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Refused(f"`schleuse prove` is already running on {self.layout.state}", code="running") from None
            yield

    async def close(self) -> None:
        """End the attackers' processes."""
        await self._crew.stop()


def _identities(config: configs.Config) -> Identities:
    entries = {name: pwd.getpwuid(uid) for name, uid in config.uids.items()}
    separated = config.os_separation
    group = grp.getgrnam(GROUP).gr_gid if separated else os.getgid()
    return Identities(
        separated, config.users, config.uids, {name: each.pw_gid for name, each in entries.items()}, group
    )


def _pids(layout: Layout) -> dict[str, int]:
    """As the supervisor says; Transient when none answers."""
    parts = control.ask(layout, "status")["parts"]
    return {name: part["pid"] for name, part in parts.items() if part["pid"]}


def _runtime(layout: Layout, pids: dict[str, int]) -> Runtime:
    """The interpreter and code that the running services use."""
    original = here()
    pid = next((pids[name] for name in ("site", "console", "bridge") if name in pids), None)
    running = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode() if pid else ""
    if not running or Path(running) == original.python or not layout.runtime.exists():
        return original
    code = layout.runtime / "code"
    path = f"{code}:{layout.runtime / 'site-packages'}"
    return Runtime(Path(running), code, path, layout.runtime / "bin" / "nats-server", copied=True)
