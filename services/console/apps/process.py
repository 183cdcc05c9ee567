"""One app's process, as the console speaks with it: one thing at a time, each with a deadline, after which the connection is closed and the process ended.

Rows that the app asks back for are read by `Rows`, and written by `Writes`; what a page may not do is refused here.
"""

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import structlog

from shared.apps.frames import FROM_APP, TO_APP, BadFrame, Frame, length_of, pack, unpack
from shared.db.engine import peer_pid, peer_uid
from shared.errors import Refused, Transient
from shared.settings import Settings

log = structlog.get_logger()
CONNECT = 5.0
MOST_ASKED = 200
"""Questions that one page may ask back."""
SOCKET = "apps.sock"


class Back(Protocol):
    """What a page or job may ask back. Refused says why not."""

    async def query(self, frame: Frame) -> Frame: ...
    async def write(self, frame: Frame) -> Frame: ...


class Broken(Exception):
    """The app did not answer as it must: its code raised, it took too long, or its process ended. The message is for people."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.message, self.output = message, output


class AppProcess:
    """Opened for exactly one folder of one app."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def is_open(self) -> bool:
        return self._writer is not None and not self._writer.is_closing()

    async def open(self, folder_hash: str, files: Mapping[str, bytes], seconds: float) -> Frame:
        """What the app declares: {"tables", "pages", "jobs"}. Transient when nobody runs apps here, Broken when this one cannot be loaded."""
        await self._connect()
        sent = {path: b64encode(raw).decode() for path, raw in files.items()}
        return await self.ask({"op": "load", "hash": folder_hash, "files": sent}, Nothing(), seconds)

    async def ask(self, frame: Frame, back: Back, seconds: float, most: int = MOST_ASKED) -> Frame:
        """The answer. Broken after `seconds`, or when its process is gone."""
        answered = False
        try:
            async with asyncio.timeout(seconds):
                found = await self._ask(frame, back, most)
            answered = True
        except Failed:
            answered = True
            raise
        except TimeoutError:
            raise Broken(f"It took longer than {seconds:g} s and was ended.") from None
        except (ConnectionError, asyncio.IncompleteReadError):
            raise Broken("Its process ended: out of memory, or by a fault of its own.") from None
        except BadFrame as fault:
            raise Broken(f"It did not answer as it must: {fault}.") from None
        finally:
            if not answered:
                self.close()  # in the middle of an answer nothing else may be asked
        return found

    async def _ask(self, frame: Frame, back: Back, most: int) -> Frame:
        await self._send(frame)
        for _ in range(most + 1):
            answer = await self._receive()
            match answer.get("op"):
                case "query":
                    await self._send(await _answered(back.query, answer))
                case "write":
                    await self._send(await _answered(back.write, answer))
                case "failed":
                    raise Failed(clean(answer.get("reason"))[:2000], clean(answer.get("output")))
                case _:
                    return answer
        raise BadFrame(f"more than {most} questions for one answer")

    async def _connect(self) -> None:
        path = self._settings.state / "run" / "apps" / SOCKET
        try:
            async with asyncio.timeout(CONNECT):
                self._reader, self._writer = await asyncio.open_unix_connection(str(path), limit=1 << 20)
        except (OSError, TimeoutError):
            raise Transient("Nobody runs apps here; `schleuse status` says more.", code="apps") from None
        self._check_server(self._writer)

    def _check_server(self, writer: asyncio.StreamWriter) -> None:
        """Whoever listens there is the part `apps`, and, where the supervisor has written it down, that very process (S9)."""
        sock = writer.get_extra_info("socket")
        expected = self._settings.uids.get("apps")
        listed = _recorded(self._settings.state)
        if (expected is not None and peer_uid(sock) != expected) or (listed and peer_pid(sock) not in (0, listed)):
            self.close()
            raise Transient(
                "The socket of the apps is not served by the part that runs them; nothing was asked there.", code="apps"
            )

    async def _send(self, frame: Frame) -> None:
        assert self._writer is not None
        raw = pack(frame)
        if len(raw) > TO_APP:
            raise BadFrame("it was asked more than fits")
        self._writer.write(raw)
        await self._writer.drain()

    async def _receive(self) -> Frame:
        assert self._reader is not None
        head = await self._reader.readexactly(4)
        return unpack(await self._reader.readexactly(length_of(head, FROM_APP)))

    def close(self) -> None:
        """The process is ended by who started it."""
        if self._writer is not None:
            self._writer.close()


def clean(text: object) -> str:
    """Text of an app, whatever it is: something that can be kept and shown (rule 19)."""
    return "" if text is None else str(text).encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


class Failed(Exception):
    """The app's code raised; its process goes on."""

    def __init__(self, reason: str, output: str) -> None:
        super().__init__(reason)
        self.reason, self.output = reason, output


class Nothing:
    """While it is loaded an app asks for nothing."""

    async def query(self, frame: Frame) -> Frame:
        raise Refused("An app asks for rows when it is asked for a page or a job.")

    async def write(self, frame: Frame) -> Frame:
        raise Refused("An app writes rows in a job.")


async def _answered(act: "Act", frame: Frame) -> Frame:
    try:
        return await act(frame)
    except Refused as refused:
        return {"op": "refused", "reason": refused.message}


class Act(Protocol):
    async def __call__(self, frame: Frame) -> Frame: ...


def _recorded(state: Path) -> int:
    """The process that the supervisor started as `apps`; 0 where it has not written one down."""
    try:
        listed = json.loads((state / "run" / "processes.json").read_text())
    except (OSError, ValueError):
        return 0
    return next((int(each["pid"]) for each in listed if each["part"] == "apps"), 0)
