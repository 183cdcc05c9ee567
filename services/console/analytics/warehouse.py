"""The engine's process as the console sees it: started when somebody asks, ended with the console, asked over a socket of its own folder."""

import asyncio
import json
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import structlog

from services.console.analytics.engine.wire import LONGEST_LINE, READY, line
from shared.errors import Refused, Transient
from shared.settings import Settings

log = structlog.get_logger()
PATIENCE = 100.0
"""Seconds for one request; loading a piece takes about one, and shorter than the transaction that waits for it."""
STARTS_WITHIN = 60.0
ABSENT = (
    "ClickHouse is not installed here: `make analytics` adds the embedded one, or name a server as analytics_url in"
    " config.json. Postgres gives the same figures."
)


class Warehouse:
    """Nothing runs before somebody asks: Postgres is the default. In a cluster the instance that asks first starts the process, and the other one uses it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    @property
    def folder(self) -> Path:
        return self._settings.warehouse

    @property
    def installed(self) -> bool:
        """Whether there is anything to ask. Looked for, not imported."""
        client = find_spec("clickhouse_connect") is not None
        return client and (self._settings.analytics_url is not None or find_spec("chdb") is not None)

    @property
    def running(self) -> bool:
        """Whether this instance has started it."""
        return self._process is not None and self._process.returncode is None

    async def stop(self) -> None:
        if self._process is not None and self.running:
            with suppress(ProcessLookupError):
                self._process.kill()  # what it had not confirmed it is told again
            await self._process.wait()

    async def ask(self, do: str, body: bytes = b"", **asked: Any) -> dict[str, Any]:
        """One request. Refused when there is no ClickHouse here; Transient when it did not answer, and nothing is known of what it did."""
        if not self.installed:
            raise Refused(ABSENT, code="no_clickhouse")
        async with self._turn:
            reader, writer = await self._connection()
            try:
                async with asyncio.timeout(PATIENCE):
                    writer.write(line({"do": do, "bytes": len(body), **asked}) + body)
                    await writer.drain()
                    said = await reader.readline()
            except (TimeoutError, ConnectionError) as error:
                raise Transient(f"ClickHouse did not answer ({type(error).__name__}); try again") from None
            finally:
                writer.close()
        if not said:
            raise Transient("ClickHouse ended while it was asked; it is started again with the next question")
        answer: dict[str, Any] = json.loads(said)
        if "error" in answer:
            log.error("analytics.engine", do=do, error=answer["error"])
            raise Transient(f"ClickHouse could not do this: {answer['error'][:300]}")
        return answer

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        deadline = asyncio.get_running_loop().time() + STARTS_WITHIN
        while True:
            with suppress(OSError):
                return await asyncio.open_unix_connection(str(self.folder / "engine.sock"), limit=LONGEST_LINE)
            if asyncio.get_running_loop().time() > deadline:
                raise Transient("ClickHouse did not start within a minute; the console's log says why")
            if not self.running:
                await self._launch()
            else:
                await asyncio.sleep(0.1)

    async def _launch(self) -> None:
        """Until it is ready, or ended: another instance's process may own the folder, and then is the one to ask."""
        url = self._settings.analytics_url
        given = ["--folder", str(self.folder)]
        if url:
            given += ["--url", url, "--password-file", str(self._settings.keys / "clickhouse.password")]
        command = (sys.executable, "-m", "services.console.analytics.engine", *given)
        self._process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3]
        )
        assert self._process.stdout is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(STARTS_WITHIN):
                if await self._process.stdout.readline() == READY:
                    return
                await self._process.wait()
        await asyncio.sleep(0.2)
