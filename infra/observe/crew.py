"""Processes that work as other OS users: one for each, started when it is first needed, doing several batches of tasks side by side."""

import asyncio
import json
import tempfile
from itertools import count
from typing import IO, Any

from infra.local.command import as_user, environment
from infra.local.identities import Identities
from infra.local.runtime import Runtime
from shared.errors import Transient

Attempt = dict[str, Any]
Outcome = dict[str, Any]
PATIENCE = 120.0
"""Seconds that one batch may take on a machine that has other things to do."""
LONGEST_LINE = 64 * 1024**2


class Worker:
    """The process of one OS user: JSON lines in, JSON lines out (infra.observe.worker)."""

    def __init__(self, user: str, process: asyncio.subprocess.Process, complaints: IO[bytes]) -> None:
        self._user, self._process, self._complaints = user, process, complaints
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._reader = asyncio.create_task(self._read(), name=f"worker {user}")

    async def make(self, state: str, attempts: list[Attempt], patience: float = PATIENCE) -> list[Outcome]:
        """One outcome for each attempt. Transient when they could not be made, which says nothing about them."""
        assert self._process.stdin is not None
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._process.stdin.write(json.dumps({"number": number, "state": state, "attempts": attempts}).encode() + b"\n")
        try:
            await self._process.stdin.drain()
            async with asyncio.timeout(patience):
                said = await answer
        except (TimeoutError, ConnectionError) as error:
            raise Transient(f"what was asked as {self._user} came to nothing: {error!r}", code="worker") from None
        finally:
            del self._waiting[number]
        if "failed" in said:
            raise Transient(f"what was asked as {self._user} could not be done: {said['failed']}", code="worker")
        found: list[Outcome] = said["outcomes"]
        return found

    @property
    def ended(self) -> bool:
        return self._process.returncode is not None

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            said = json.loads(line)
            if (answer := self._waiting.get(said["number"])) and not answer.done():
                answer.set_result(said)
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_result({"failed": self._last_words()})

    def _last_words(self) -> str:
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        return f"the process ended: {lines[-1] if lines else 'without a word'}"

    async def stop(self) -> None:
        """It ends when nothing more can come."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(5):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        await self._reader
        self._complaints.close()


class Crew:
    """All workers of one run, each the program `module`. `stop` it in the loop that used it."""

    def __init__(self, who: Identities, runtime: Runtime, module: str = "infra.observe.worker") -> None:
        self._who, self._runtime, self._module = who, runtime, module
        self._workers: dict[str, Worker] = {}
        self._starting = asyncio.Lock()

    async def worker(self, user: str) -> Worker:
        async with self._starting:
            if user in self._workers and self._workers[user].ended:
                await self._workers.pop(user).stop()
            if user not in self._workers:
                complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
                self._workers[user] = Worker(user, await self._start(user, complaints), complaints)
            return self._workers[user]

    async def _start(self, user: str, complaints: IO[bytes]) -> asyncio.subprocess.Process:
        command = [str(self._runtime.python), "-m", self._module]
        return await asyncio.create_subprocess_exec(
            *as_user(self._who, user, command), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=complaints,
            env=environment(self._runtime), cwd=self._runtime.code, limit=LONGEST_LINE,
            start_new_session=True,  # a Ctrl-C is for the command, which then takes back what it planted
        )  # fmt: skip

    async def stop(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self._workers.values()))
        self._workers.clear()
