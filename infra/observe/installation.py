"""A running installation, and doing things in it as one of its OS users."""

import grp
import os
import pwd
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from infra.local import config as configs
from infra.local import control
from infra.local.identities import Identities
from infra.local.layout import GROUP, Layout
from infra.local.runtime import Runtime, here
from infra.observe.crew import PATIENCE, Attempt, Crew, Outcome
from shared.errors import Refused, Transient
from shared.settings import Settings


@dataclass(frozen=True)
class Installation:
    """`pids`: process ids by part, as the supervisor says."""

    layout: Layout
    config: configs.Config
    who: Identities
    runtime: Runtime
    pids: dict[str, int] = field(default_factory=dict)

    @classmethod
    def load(cls, state: Path) -> Self:
        """Refused when it is no state directory of ours; Transient when nothing runs there."""
        layout = Layout(state.resolve())
        config = read_config(layout, state)
        pids = pids_of(control.ask(layout, "status")["parts"])
        return cls(layout, config, identities_of(config), runtime_of(layout, pids), pids)

    @property
    def separated(self) -> bool:
        return self.config.os_separation

    @cached_property
    def crew(self) -> Crew:
        return Crew(self.who, self.runtime)

    def settings(self, service: str) -> Settings:
        return Settings.load(service, self.layout.state)

    async def run(self, user: str, attempts: list[Attempt], patience: float = PATIENCE) -> list[Outcome]:
        """Do this in the process of that OS user (an entry of config.users); one outcome for each."""
        if not attempts:
            return []
        worker = await self.crew.worker(user)
        return await worker.make(str(self.layout.state), attempts, patience)

    async def close(self) -> None:
        """End the workers' processes."""
        await self.crew.stop()


def read_config(layout: Layout, named: Path) -> configs.Config:
    """Refused when it is no state directory, or another user's."""
    config = configs.read(layout)
    if config is None:
        raise Refused(f"{named} is no state directory; start one with `schleuse up`", code="state")
    if config.install_uid != os.getuid():
        raise Refused(f"only the user that installed {named} (uid {config.install_uid}) can look into it", code="user")
    return config


def identities_of(config: configs.Config) -> Identities:
    entries = {name: pwd.getpwuid(uid) for name, uid in config.uids.items()}
    separated = config.os_separation
    group = grp.getgrnam(GROUP).gr_gid if separated else os.getgid()
    return Identities(
        separated, config.users, config.uids, {name: each.pw_gid for name, each in entries.items()}, group
    )


def parts_of(layout: Layout) -> dict[str, dict[str, Any]]:
    """What the supervisor says of each part; nothing when none answers."""
    try:
        found: dict[str, dict[str, Any]] = control.ask(layout, "status")["parts"]
    except Transient:
        return {}
    return found


def pids_of(parts: dict[str, dict[str, Any]]) -> dict[str, int]:
    return {name: part["pid"] for name, part in parts.items() if part["pid"]}


def runtime_of(layout: Layout, pids: dict[str, int]) -> Runtime:
    """The interpreter and code that the running services use."""
    original = here(servers=bool(pids))  # in containers each has its own
    pid = next((pids[name] for name in ("site", "console", "bridge") if name in pids), None)
    try:
        running = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode() if pid else ""
    except OSError:  # it ended just now
        running = ""
    if not running or Path(running) == original.python or not layout.runtime.exists():
        return original
    code = layout.runtime / "code"
    path = f"{code}:{layout.runtime / 'site-packages'}"
    return Runtime(Path(running), code, path, layout.runtime / "bin" / "nats-server", copied=True)
