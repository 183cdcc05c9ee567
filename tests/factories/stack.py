"""The whole product, as `schleuse up --detach --wait` starts it: commands, processes, databases, bus."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from infra.local import identities
from infra.local.command import as_user, environment
from infra.local.layout import Layout
from infra.local.report import report
from infra.local.runtime import Runtime, choose
from shared.operator import call
from shared.testing.servers import free_port_base, short_folder
from tests.factories.waiting import until

Answer = TypeVar("Answer")
ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("bridge", "console", "site", "agent", "connectors")
PARTS = ("postgres", "nats", *SERVICES)
DATABASES = {
    "agent": "agent_db",
    "console": "console_db",
    "site": "site_db",
    "connectors": "system_db",
    "bridge": "console_site_db",
}
QUERY = """
import asyncio, asyncpg, json, sys
async def ask(where, user, database, text):
    try:
        found = await asyncpg.connect(host=where, user=user, database=database)
        try:
            return [dict(row) for row in await found.fetch(text)]
        finally:
            await found.close()
    except asyncpg.PostgresError as error:
        return {"sqlstate": error.sqlstate, "message": str(error)}
    except OSError as error:
        return {"sqlstate": "", "message": str(error)}
for line in sys.stdin:
    print(json.dumps(asyncio.run(ask(*json.loads(line))), default=str), flush=True)
"""
"""Asks one question after another, as whoever runs it."""


class Failed(AssertionError):
    """A command did not end with 0."""


@dataclass
class Stack:
    """A running installation in `state`. `owner_link` is what `up` printed when it was fresh."""

    state: Path
    urls: dict[str, str] = field(default_factory=dict)
    owner_link: str | None = None
    _runtime: Runtime | None = None
    _askers: dict[str, subprocess.Popen[str]] = field(default_factory=dict, repr=False)

    @property
    def layout(self) -> Layout:
        return Layout(self.state.resolve())

    def run(self, *arguments: str, timeout: float = 180, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Any command of `schleuse` on this state directory; never raises for its exit code."""
        return schleuse(*arguments, "--state", str(self.state), timeout=timeout, stdin=stdin)

    def cli(self, *arguments: str, timeout: float = 180) -> Any:
        """The JSON that a command prints. Failed when it did not end with 0."""
        done = self.run(*arguments, "--json", timeout=timeout)
        if done.returncode:
            raise Failed(
                f"schleuse {' '.join(arguments[:6])} ended with {done.returncode}: {done.stderr[-1500:]}{done.stdout[-500:]}"
            )
        return json.loads(done.stdout)

    def up(self, port_base: int | None = None, *options: str) -> None:
        ports = ("--port-base", str(port_base)) if port_base else ()
        found = self.cli("up", "--detach", "--wait", *ports, *options)
        self.urls, self.owner_link = found["urls"], found.get("owner_link")

    def ports(self) -> dict[str, int]:
        """Where each front listens."""
        found: dict[str, int] = json.loads(self.layout.config.read_text())["ports"]
        return found

    def status(self) -> dict[str, Any]:
        """What `schleuse status --json` prints."""
        return apart(lambda: report(self.state))

    def parts(self) -> dict[str, dict[str, Any]]:
        found = self.status()
        return found["services"] | found["servers"]

    def ready(self) -> bool:
        return bool(self.status()["ready"])

    def green(self) -> bool:
        """Ready, and no service reports a red condition but that events are parked."""
        return not self.red()

    def becomes_green(self, seconds: float) -> None:
        """Waits for it; an AssertionError says what is not well."""
        red: list[dict[str, str]] = []

        def look() -> bool:
            red.append(self.red())
            return not red[-1]

        try:
            until(look, seconds, "everything is well", 0.3)
        except AssertionError:
            raise AssertionError(f"not well after {seconds:g} s: {red[-1]}") from None

    def red(self) -> dict[str, str]:
        """What is not well, and why; parked events are."""
        found = self.status()
        told = {
            f"{service} {name}": str(each.get("detail", ""))
            for service, part in found["services"].items()
            for name, each in part.get("conditions", {}).items()
            if not each["ok"] and name != "parked"
        }
        return told if found["ready"] or told else {"system": "not ready"}

    def pids(self) -> dict[str, int]:
        """Process ids as the supervisor wrote them down."""
        return {each["part"]: each["pid"] for each in json.loads(self.layout.processes.read_text())}

    def kill(self, part: str) -> int:
        """kill -9 a part as the kernel would; the id that is gone."""
        pid = self.pids()[part]
        os.kill(pid, signal.SIGKILL)
        return pid

    def back(self, part: str, old: int, seconds: float = 40) -> None:
        """Wait until the supervisor has a new process for the part and everything is ready."""
        until(lambda: self.pids().get(part, old) != old and self.ready(), seconds, f"{part} is back", 0.2)

    def run_as(self, user: str, *command: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """A command as one of the OS users, in the services' own environment."""
        who = identities.resolve()
        runtime = self.runtime
        words = [str(runtime.python) if word == "python" else word for word in command]
        return subprocess.run(
            as_user(who, user, words), cwd="/", env=environment(runtime), capture_output=True, text=True, timeout=timeout, check=False
        )  # fmt: skip

    @property
    def runtime(self) -> Runtime:
        if self._runtime is None:
            self._runtime = choose(self.layout, *identities.resolve().owner("site"))
        return self._runtime

    def ask_database(self, user: str, database: str, text: str, role: str | None = None) -> Any:
        """Rows as JSON objects, or {"sqlstate", "message"}; asked as that OS user, over a new connection."""
        asker = self._askers.get(user)
        if asker is None or asker.poll() is not None:
            asker = self._askers[user] = self._start_asker(user)
        assert asker.stdin is not None and asker.stdout is not None
        asker.stdin.write(json.dumps([str(self.layout.pg_socket_dir), role or user, database, text]) + "\n")
        asker.stdin.flush()
        return json.loads(asker.stdout.readline())

    def _start_asker(self, user: str) -> subprocess.Popen[str]:
        command = as_user(identities.resolve(), user, [str(self.runtime.python), "-c", QUERY])
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd="/", env=environment(self.runtime), stdin=pipe, stdout=pipe, text=True)

    def close(self) -> None:
        """End what asks the databases."""
        for asker in self._askers.values():
            with asker:
                asker.terminate()
        self._askers.clear()

    def rows(self, service: str, text: str) -> list[dict[str, Any]]:
        """Rows from a service's database, read as the superuser role."""
        found = self.ask_database("pgadm", DATABASES[service], text)
        assert isinstance(found, list), found
        return found

    def value(self, service: str, text: str) -> Any:
        [row] = self.rows(service, text)
        return next(iter(row.values()))

    def is_drained(self) -> bool:
        """Nothing waits in any outbox."""
        return all(self.value(service, "SELECT count(*) FROM app.todo") == 0 for service in SERVICES)

    def ask(self, service: str, verb: str, **args: Any) -> dict[str, Any]:
        """An operator's command, without the time that starting a program takes."""
        return apart(lambda: call(self.state, service, verb, args))

    def totals(self) -> dict[str, int]:
        return self.ask("console", "signals.totals")

    def items(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("console", "items.list")["items"]
        return found

    def parked(self) -> list[dict[str, Any]]:
        """What is parked in any service, each with `service`."""
        return [{"service": name, **row} for name in SERVICES for row in self.ask(name, "parked.list")["parked"]]

    def settled_totals(self, seconds: float = 60) -> dict[str, int]:
        """The console's totals when everything that was staged has arrived."""
        until(self.is_drained, seconds, "all outboxes are empty", 0.1)
        last = self.totals()
        until(lambda: self._same_as_before(last), seconds, "totals stay the same", 0.3)
        return last

    def _same_as_before(self, last: dict[str, int]) -> bool:
        found = self.totals()
        same = found == last
        last.clear()
        last.update(found)
        return same

    def down(self) -> None:
        self.run("down", timeout=60)


def apart(act: Callable[[], Answer]) -> Answer:
    """In a thread of its own: what starts a loop can be asked by a browser's test, which runs in one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(act).result()


def schleuse(
    *arguments: str, timeout: float = 180, stdin: str | None = None, cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "infra.cli.main", *arguments],
        cwd=cwd, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=timeout, input=stdin, check=False,
    )  # fmt: skip


@contextmanager
def running_stack(
    port_base: int | None = None, *options: str, own: bool = False, public: dict[str, str] | None = None
) -> Iterator[Stack]:
    """A fresh installation, stopped and removed afterwards. With SCHLEUSE_TEST_STATE set, the one that runs there is used (unless `own`).

    `options` go to `up`. `public`: what people type, by front, behind a proxy on this machine; then it is always one of its own.
    """
    given = None if own or public else os.environ.get("SCHLEUSE_TEST_STATE")
    if given:
        stack = Stack(Path(given))
        stack.up()
        yield stack
        stack.close()
        return
    folder = short_folder("stack")
    stack = Stack(folder)
    try:
        stack.up(port_base or free_port_base(), *options, *_behind_proxy(public))
        yield stack
    finally:
        stack.close()
        stack.down()
        _keep_logs(stack)
        shutil.rmtree(folder, ignore_errors=True)


def _behind_proxy(public: dict[str, str] | None) -> list[str]:
    options = [word for front, url in (public or {}).items() for word in ("--public-url", f"{front}={url}")]
    return [*options, "--trusted-proxy", "127.0.0.1"] if public else []


def _keep_logs(stack: Stack) -> None:
    """With SCHLEUSE_TEST_LOGS set, the logs stay for whoever looks into a failure."""
    kept = os.environ.get("SCHLEUSE_TEST_LOGS")
    if kept and stack.layout.logs.is_dir():
        shutil.copytree(stack.layout.logs, Path(kept) / stack.state.name, dirs_exist_ok=True)
