"""Start what a backup or a restore needs: programs as their OS users, and a Postgres server for as long as it takes."""

import asyncio
import fcntl
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Any

from infra.local import readiness
from infra.local.command import as_user, environment
from infra.local.identities import Identities
from infra.local.layout import Layout
from infra.local.runtime import Runtime
from shared.errors import Refused, SchleuseError, Transient

START_SECONDS = 120.0
STOP_SECONDS = 30.0
PIPE = 1024**2
"""Of what flows between us and a program: large pieces cost fewer turns of both."""
Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Machine:
    """Where it happens: the state directory, this machine's OS users, the interpreter."""

    layout: Layout
    who: Identities
    runtime: Runtime

    def program(self, user: str, module: str, *arguments: str, death_signal: str = "TERM") -> list[str]:
        """The command of a module of ours as that OS user."""
        return as_user(self.who, user, [str(self.runtime.python), "-m", module, *arguments], death_signal=death_signal)

    def popen(self, command: list[str], **pipes: Any) -> "subprocess.Popen[bytes]":
        started = subprocess.Popen(  # noqa: S603 - our own modules
            command, env=environment(self.runtime), cwd=self.runtime.code, start_new_session=True, bufsize=PIPE, **pipes
        )
        for stream in (started.stdin, started.stdout):
            if stream is not None:
                fcntl.fcntl(stream.fileno(), fcntl.F_SETPIPE_SZ, PIPE)
        return started


@dataclass
class Program:
    """A running one of `infra.backup.doing`; `facts` are what it said, the newest of each kind."""

    process: "subprocess.Popen[bytes]"
    tell: Tell
    facts: dict[str, Any] = field(default_factory=dict)
    _words: list[str] = field(default_factory=list)
    _thread: threading.Thread | None = None

    def listen(self) -> None:
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as words:
            self._hear(words)

    def _hear(self, words: IO[bytes]) -> None:
        for line in words:
            try:
                found = json.loads(line)
            except ValueError:
                self._words.append(line.decode(errors="replace").strip())
                continue
            self.facts |= found
            if found.keys() & {"done", "total"}:
                self.tell(found)

    def result(self) -> dict[str, Any]:
        """After its end. Refused or Transient with what it said when it failed."""
        code = self.process.wait()
        assert self._thread is not None
        self._thread.join(timeout=5)
        if code == 0 and "result" in self.facts:
            found: dict[str, Any] = self.facts["result"]
            return found
        text = self.facts.get("failed") or (self._words or [f"it ended with code {code}"])[-1]
        if self.facts.get("code") in (None, "error", "interrupted"):
            raise Transient(text, code="failed")
        raise Refused(text, code=self.facts["code"])


@contextmanager
def started(machine: Machine, tell: Tell, user: str, module: str, *arguments: str, stdin: bool = False) -> Iterator[Program]:  # fmt: skip
    """Ended, and waited for, when the block is left with an error; standard output is read by the caller."""
    pipe = subprocess.PIPE
    process = machine.popen(
        machine.program(user, module, *arguments),
        stdin=pipe if stdin else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if stdin else pipe,
        stderr=pipe,
    )
    program = Program(process, tell)
    program.listen()
    try:
        yield program
    except BaseException:
        _close(process.stdout)  # a program that waits for us to read would not end
        _end(process)
        raise
    finally:
        for stream in (process.stdin, process.stdout):
            _close(stream)


def asked(machine: Machine, user: str, module: str, *arguments: str, given: bytes = b"") -> dict[str, Any]:
    """Run a program that reads all of its input and says one result."""
    process = machine.popen(
        machine.program(user, module, *arguments), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )  # fmt: skip
    program = Program(process, lambda _: None)
    program.listen()
    try:
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(given)
        _close(process.stdin)
        return program.result()
    except BaseException:
        _end(process)
        raise


@contextmanager
def postgres(machine: Machine) -> Iterator[None]:
    """The database server alone, on the state directory whose lock the caller holds; stopped in order afterwards."""
    layout = machine.layout
    command = machine.program("pgadm", "infra.postgres.launch", "--state", str(layout.state), death_signal="INT")
    log_file = layout.logs / "postgres.log"
    with open(log_file, "ab", opener=lambda path, flags: os.open(path, flags, 0o640)) as log:
        process = machine.popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        if not asyncio.run(_answers(layout, process)):
            raise Refused(f"Postgres did not start: {_last_line(layout)}", code="not_ready")
        yield
    finally:
        _end(process, signal.SIGINT)


async def _answers(layout: Layout, process: "subprocess.Popen[bytes]") -> bool:
    async def settled() -> bool:
        return process.poll() is not None or await readiness.postgres(layout.pg_socket_dir)

    return await readiness.until(settled, START_SECONDS) and process.poll() is None


def provision(machine: Machine) -> None:
    """Bring roles, rights and protected tables to what this release declares, as every start does."""
    command = machine.program("pgadm", "infra.postgres.provision", "--state", str(machine.layout.state))
    with machine.popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        _, said = process.communicate()
    if process.returncode:
        lines = said.decode(errors="replace").strip().splitlines()
        raise SchleuseError(f"provisioning the databases failed: {lines[-1] if lines else 'no message'}")


def _last_line(layout: Layout) -> str:
    with suppress(OSError, IndexError):
        return (layout.logs / "postgres.log").read_text(errors="replace").strip().splitlines()[-1][:500]
    return "no message"


def _end(process: "subprocess.Popen[bytes]", number: signal.Signals = signal.SIGTERM) -> None:
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with suppress(BrokenPipeError, ValueError):
            stream.close()
