"""The bridge's side of inspection: one warm child, two seconds for each text, and a block when anything goes wrong."""

import asyncio
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import pathsep
from time import perf_counter
from typing import Any

from pydantic import ValidationError

from schemas.bridge.v1 import Finding
from schemas.content import ItemContent
from schemas.model import MAX_CONTENT
from schemas.text import BadJson, parse_json, sha256
from services.bridge.inspection.checks import internal
from services.bridge.inspection.columns import Columns, ColumnSource
from services.bridge.inspection.frames import LENGTH, MAX_REPLY, frame, length_of
from services.bridge.inspection.known import Known, Source
from services.bridge.inspection.order import cut
from services.bridge.inspection.sought import Sought, block, refusal
from services.bridge.inspection.telling import Telling

SECONDS = 2.0
"""Time for one inspection (S14)."""
START_SECONDS = 30.0
JOBS_PER_CHILD = 200
"""Then a fresh child takes over, so that none grows old."""
REMEMBERED = 10_000
"""Contents that are known to hold none of the present secrets."""
_CHILD = "services.bridge.inspection.child"


@dataclass(frozen=True)
class Inspection:
    """blocked: at least one finding blocks. ms: how long it took."""

    findings: tuple[Finding, ...]
    blocked: bool
    ms: int


class _Failed(Exception):
    """The child gave no answer that can be used; the message says what is known."""


class Inspector:
    """Inspects one text after another in a child process without keys. Start and stop it with the service."""

    def __init__(self, source: Source, columns: ColumnSource | None = None, seconds: float = SECONDS) -> None:
        """`columns`: None where there is no console that has any."""
        self._source, self._columns, self._seconds = source, columns, seconds
        self._turn = asyncio.Lock()
        self._child: asyncio.subprocess.Process | None = None
        self._jobs = 0
        self._told, self._telling = "", Telling()
        self._clean: dict[tuple[str, str], None] = {}

    @property
    def pid(self) -> int | None:
        """Process id of the present child."""
        return self._child.pid if self._child else None

    async def start(self) -> None:
        """Start the child and wait until it has given up its rights. RuntimeError when it does not come up."""
        async with self._turn:
            try:
                await self._ready()
            except _Failed as error:
                raise RuntimeError(str(error)) from error

    async def stop(self) -> None:
        """End the child."""
        async with self._turn:
            await self._discard()

    async def inspect(
        self, content: ItemContent, kind: str, lang: str, prior_body: str | None, files: Sequence[bytes] = ()
    ) -> Inspection:
        """Findings for a content whose schema is checked. `prior_body`: the approved revision's, None for a new item. `files`: the bytes of its
        attachments, in its order; each has two seconds of its own.

        kind and lang change nothing yet. Never raises for a text's sake: a timeout, a crash or an answer that can't be read is a `block` finding,
        and so is that nothing is known of our own secrets. Transient as the source.
        """
        known = await self._known()
        began = perf_counter()
        size = len(content.to_bytes())
        if size > MAX_CONTENT:
            found = [block("size", f"The content has {size} bytes; at most {MAX_CONTENT} are allowed")]
        else:
            async with self._turn:
                found = await self._findings(_job(content) | {"prior_body": prior_body}, known)
                found += await self._of_files(content, files, known, {})
                found = cut(found)
        if known.why == "" and not any(each.level == "block" for each in found):
            self._remember(content, known)
        ms = round((perf_counter() - began) * 1000)
        return Inspection(tuple(found), any(each.level == "block" for each in found), ms)

    async def is_clean(self, content_hash: str) -> bool:
        """Whether this content was looked at for the very values that are known now. Transient as the source."""
        known = await self._known()
        return known.why == "" and (known.name, content_hash) in self._clean

    async def recheck(self, content: ItemContent, files: Sequence[bytes] = (), seen: Sequence[Finding] = ()) -> str:
        """Why it cannot pass, or nothing: looks for our own secrets, and for internal values that whoever approves it was not shown (`seen`).

        Transient as the source.
        """
        known = await self._known()
        only = {"known_only": True}
        async with self._turn:
            found = await self._findings(_job(content) | only, known)
            found += await self._of_files(content, files, known, only)
        fresh = [each for each in found if each not in seen or each.rule != internal.RULE]
        if fresh:
            return refusal(fresh[0])
        self._remember(content, known)
        return ""

    async def _known(self) -> Sought:
        return Sought(await self._source.current(), await self._columns.current() if self._columns else None)

    async def _of_files(
        self, content: ItemContent, files: Sequence[bytes], known: Sought, only: Mapping[str, bool]
    ) -> list[Finding]:
        if len(files) != len(content.attachments):
            return [block("inspection_failed", "Not all attachments are there. Nothing passes uninspected")]
        found = list[Finding]()
        for each, raw in zip(content.attachments, files, strict=True):
            said = each.model_dump(mode="json") | {"data": b64encode(raw).decode()}
            found += await self._findings({"attachment": said, **only}, known)
        return found

    def _remember(self, content: ItemContent, known: Sought) -> None:
        self._clean[known.name, sha256(content.to_bytes())] = None
        if len(self._clean) > REMEMBERED:
            del self._clean[next(iter(self._clean))]

    async def _findings(self, job: Mapping[str, Any], known: Sought) -> list[Finding]:
        try:
            child = await self._ready()
            await self._tell(child, known)
            reply = await self._ask(child, frame(dict(job)), self._seconds)
            found = [Finding.model_validate(each) for each in reply["findings"]]
            return [*known.unknown(), *found]
        except (_Failed, ValidationError, KeyError, TypeError) as error:
            await self._discard()
            why = str(error) if isinstance(error, _Failed) else "its answer could not be read"
            return [block("inspection_failed", f"The inspection did not finish: {why}. Nothing passes uninspected")]

    async def _ready(self) -> asyncio.subprocess.Process:
        child = self._child
        if child and (child.returncode is not None or self._jobs >= JOBS_PER_CHILD or _ended(child)):
            await self._discard()
            child = None
        if child is None:
            child = await self._spawn()
        self._jobs += 1
        return child

    async def _tell(self, child: asyncio.subprocess.Process, sought: Sought) -> None:
        """What finds our own secrets and internal values, unless this child knows it."""
        known, columns = sought.secrets, sought.columns
        if isinstance(known, Known) and self._told != known.name:
            await self._learns(child, {"known": known.to_frame()})
            self._told = known.name
        for each in self._telling.frames(columns) if isinstance(columns, Columns) else ():
            await self._learns(child, each)

    async def _learns(self, child: asyncio.subprocess.Process, said: dict[str, Any]) -> None:
        if (await self._ask(child, frame(said), self._seconds)).get("ready") is not True:
            raise _Failed("its answer could not be read")

    async def _spawn(self) -> asyncio.subprocess.Process:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-s", "-B", "-m", _CHILD),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,  # a traceback could quote what was inspected
            env={"PYTHONPATH": pathsep.join(filter(None, sys.path)), "LANG": "C.UTF-8"},
            cwd="/",
            start_new_session=True,
        )
        self._child, self._jobs, self._told, self._telling = child, 0, "", Telling()
        hello = await self._ask(child, b"", START_SECONDS)
        if hello.get("ready") is not True:
            raise _Failed("the inspecting process did not start")
        return child

    async def _ask(self, child: asyncio.subprocess.Process, message: bytes, seconds: float) -> dict[str, Any]:
        assert child.stdin is not None and child.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                child.stdin.write(message)
                await child.stdin.drain()
                length = length_of(await child.stdout.readexactly(LENGTH.size), MAX_REPLY)
                reply = parse_json(await child.stdout.readexactly(length))
        except TimeoutError:
            raise _Failed(f"it took longer than {seconds:g} s") from None
        except (OSError, EOFError, BadJson, ValueError):
            raise _Failed("the inspecting process ended") from None
        except asyncio.CancelledError:
            self._child = None  # a late answer must never be taken for the next text's
            _kill(child)
            raise
        if not isinstance(reply, dict):
            raise _Failed("its answer could not be read")
        return reply

    async def _discard(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            _kill(child)
            await child.wait()


def _job(content: ItemContent) -> dict[str, Any]:
    named = "\n".join(f"{each.name}\n{each.alt}" for each in content.attachments)
    return {"title": content.title, "summary": content.summary, "body": content.body, "named": named}


def _kill(child: asyncio.subprocess.Process) -> None:
    if child.returncode is None:
        child.kill()


def _ended(child: asyncio.subprocess.Process) -> bool:
    return child.stdout is not None and child.stdout.at_eof()
