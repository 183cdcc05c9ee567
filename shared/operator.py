"""The operator's way in: JSON lines over a Unix socket (S12). Never over HTTP.

The server serves only the OS user that installed the system (peer uid, and the operator's token when the installation
has one); the client checks that the socket is served by the service's own OS user (S9).
"""

import asyncio
import hashlib
import hmac
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import structlog
from pydantic import ValidationError

from shared.db.engine import peer_uid
from shared.errors import NotFound, Refused, SchleuseError, Transient, Unauthorized, from_wire
from shared.settings import Settings
from shared.telemetry import span

Verb = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
LIMIT = 64 * 1024 * 1024
"""Bytes of one request or answer line."""
AWAKE_WITHIN = 1.0
log = structlog.get_logger()


class OperatorServer:
    """Serves verbs on DIR/run/<service>/op.sock."""

    def __init__(self, settings: Settings, verbs: Mapping[str, Verb]) -> None:
        self._settings = settings
        self._verbs = verbs
        self._server: asyncio.Server | None = None

    @property
    def path(self) -> Path:
        return self._settings.run / "op.sock"

    async def start(self) -> None:
        self.path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._serve, path=str(self.path), limit=LIMIT)
        self.path.chmod(0o600)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self.path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            uid = peer_uid(writer.get_extra_info("socket"))
            line = await reader.readline()
            if line:
                answer = await self._answer(uid, line)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError) as error:
            log.warning("operator.broken_call", error=str(error)[:200])
        finally:
            writer.close()

    async def _answer(self, uid: int, line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
            self._admit(uid, str(request.get("token", "")))
            verb = self._verbs.get(request["verb"])
            if verb is None:
                raise NotFound(f"{self._settings.service} has no operator command {request['verb']}")
            with span(f"operator {request['verb']}"):
                return {"result": await verb(request.get("args") or {})}
        except SchleuseError as error:
            return {"error": {"status": error.status, "code": error.code, "message": error.message}}
        except (ValidationError, KeyError, TypeError, ValueError) as error:
            return {
                "error": {
                    "status": 422,
                    "code": "invalid",
                    "message": f"the command's arguments are off: {error}"[:1000],
                }
            }
        except Exception as error:
            log.exception("operator.failed")
            return {"error": {"status": 500, "code": "error", "message": f"{type(error).__name__}: {error}"[:1000]}}

    def _admit(self, uid: int, token: str) -> None:
        if uid != self._settings.install_uid:
            raise Unauthorized(
                f"only the user that installed the system (uid {self._settings.install_uid}) operates it"
            )
        expected = self._settings.operator_token_sha256
        if expected and not hmac.compare_digest(hashlib.sha256(token.encode()).hexdigest(), expected):
            raise Unauthorized("the operator's token is wrong")


async def acall(
    state: Path, service: str, verb: str, args: Mapping[str, Any] | None = None, patience: float = 300.0
) -> dict[str, Any]:
    """Ask the first instance of a service that lets one in. Transient when none runs; otherwise the error that it reported."""
    settings = Settings.load(service, state)
    reader, writer = await _connect(settings)
    try:
        _check_server(settings, service, writer.get_extra_info("socket"))
        token = settings.state / "keys" / "operator.token"
        request = {"verb": verb, "args": dict(args or {}), "token": token.read_text().strip() if token.exists() else ""}
        writer.write(json.dumps(request).encode() + b"\n")
        async with asyncio.timeout(patience):
            await writer.drain()
            line = await reader.readline()
    except TimeoutError:
        raise Transient(f"{service} did not answer {verb} within {patience:.0f} s") from None
    finally:
        writer.close()
    return _result(service, line)


async def _connect(settings: Settings) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    for number in settings.instances:
        path = settings.model_copy(update={"instance": number}).run / "op.sock"
        try:
            if settings.cluster and not await _is_awake(path):
                continue
            return await asyncio.open_unix_connection(str(path), limit=LIMIT)
        except (FileNotFoundError, ConnectionError):
            continue
        except PermissionError:
            raise Refused(f"{path} belongs to another user; run this as the user that installed the system") from None
    raise Transient(
        f"{settings.service} is not running in {settings.state}; start it with `schleuse up`", code="not_running"
    )


async def _is_awake(path: Path) -> bool:
    """Whether an instance answers anything at all: one that hangs must not keep a command waiting while the other works."""
    reader, writer = await asyncio.open_unix_connection(str(path))
    try:
        writer.write(b"{}\n")
        async with asyncio.timeout(AWAKE_WITHIN):
            return bool(await reader.readline())
    except TimeoutError:
        return False
    finally:
        writer.close()


def _check_server(settings: Settings, service: str, sock: socket.socket) -> None:
    served_by = peer_uid(sock)
    expected = settings.uids.get(service)
    if expected is not None and served_by != expected:
        raise Refused(f"the socket of {service} is served by uid {served_by}, not by {expected}; nothing was sent")


def _result(service: str, line: bytes) -> dict[str, Any]:
    if not line:
        raise Transient(f"{service} closed the connection without an answer")
    answer: dict[str, Any] = json.loads(line)
    if "error" in answer:
        error = answer["error"]
        raise from_wire(error["status"], error["code"], error["message"])
    result: dict[str, Any] = answer["result"]
    return result


def call(
    state: Path, service: str, verb: str, args: Mapping[str, Any] | None = None, patience: float = 300.0
) -> dict[str, Any]:
    """`acall` for programs without a loop."""
    return asyncio.run(acall(state, service, verb, args, patience))
