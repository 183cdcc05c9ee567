"""Asks of the connectors with a service's own key: {"as", "verb", "head", "body"} -> `refused` with the error's code as detail, or `done` with the answer.

`head` is sent as it is given, unknown parameters and all.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

from shared.asking.answer import Answer
from shared.asking.subjects import ask_subject
from shared.asking.wire import BODY
from shared.bus.asks import AskLine
from shared.bus.connection import Connection
from shared.errors import SchleuseError
from shared.health import Health
from shared.ids import fresh_id
from shared.settings import Settings

SECONDS = 20.0


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for service, group in groupby(attempts, key=lambda each: each["as"]):
        async with _line(Settings.load(service, state)) as (line, running):
            found += [await _ask(line, running, service, each) for each in group]
    return found


@asynccontextmanager
async def _line(settings: Settings) -> AsyncIterator[tuple[AskLine, dict[str, Answer]]]:
    connection, running = Connection(settings, Health("prove")), dict[str, Answer]()
    line = AskLine(connection, settings.service)
    await connection.start()
    try:
        await line.start(lambda name, raw: running[name].arrive(raw))
        yield line, running
    finally:
        await connection.stop()


async def _ask(line: AskLine, running: dict[str, Answer], service: str, each: dict[str, Any]) -> dict[str, Any]:
    async def nothing(_: Answer) -> None: ...

    ask_id: UUID = fresh_id()
    answer = running[ask_id.hex] = Answer(ask_id, nothing)
    raw = json.dumps({"ask_id": str(ask_id), **each["head"]}).encode() + b"\n" + each.get("body", "").encode()
    await line.ask(ask_subject(service, each["verb"]), ask_id.hex, raw)
    try:
        async with asyncio.timeout(SECONDS):
            said = b"".join([frame.payload async for frame in answer.frames() if frame.kind == BODY])
    except SchleuseError as error:
        return {"got": "refused", "detail": error.code}
    except TimeoutError:
        return {"got": "error", "detail": "no answer"}
    return {"got": "done", "value": json.loads(said or b"null")}
