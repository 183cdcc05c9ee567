"""The installation under attack, and running attempts as one of its OS users."""

import asyncio
import grp
import json
import os
import pwd
import secrets
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from infra.local import config as configs
from infra.local import control
from infra.local.command import as_user, environment
from infra.local.identities import Identities
from infra.local.layout import ALL_USERS, GROUP, Layout
from infra.local.runtime import Runtime, here
from shared.errors import Refused, Transient
from shared.settings import Settings

Attempt = dict[str, Any]
Outcome = dict[str, Any]
AT_ONCE = 4
PATIENCE = 50.0
"""Seconds that one child process may take."""


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
    def _slots(self) -> asyncio.Semaphore:
        return asyncio.Semaphore(AT_ONCE)

    def settings(self, service: str) -> Settings:
        return Settings.load(service, self.layout.state)

    async def run(self, user: str, attempts: list[Attempt]) -> list[Outcome]:
        """Make the attempts in one child process of that OS user (an entry of config.users); one outcome for each."""
        if not attempts:
            return []
        command = [str(self.runtime.python), "-m", "infra.prove.actor"]
        task = json.dumps({"state": str(self.layout.state), "attempts": attempts}).encode()
        async with self._slots:
            said = await self._child(user, command, task)
        found: list[Outcome] = json.loads(said)
        return found

    async def _child(self, user: str, command: list[str], task: bytes) -> bytes:
        process = await asyncio.create_subprocess_exec(
            *as_user(self.who, user, command), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, env=environment(self.runtime), cwd=self.runtime.code, limit=64 * 1024**2,
        )  # fmt: skip
        try:
            async with asyncio.timeout(PATIENCE):
                said, errors = await process.communicate(task)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise Transient(f"the attempts as {user} did not end within {PATIENCE:.0f} s", code="prove") from None
        if process.returncode:
            last = errors.decode(errors="replace").strip().splitlines()[-1:]
            raise Transient(f"the attempts as {user} could not be made: {last}", code="prove")
        return said


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
