"""Ask the part that runs apps to run one: {} → `done` with what a hostile app could do there, `refused` when nobody is let in.

`value`: {name of the attempt: how it ended}, `DONE` for what must not work.
"""

import asyncio
from base64 import b64encode
from pathlib import Path
from typing import Any

from shared.apps.folder import folder_hash
from shared.apps.frames import FROM_APP, Frame, length_of, pack, unpack

PATIENCE = 60.0
_CODE = """
import ctypes, json, os, resource, signal, socket, subprocess
from schleuse_app import page

STATE = {state!r}
TRIES = {{
    "open a key of the console": lambda: open(STATE + "/keys/console/decision.key", "rb"),
    "open the configuration": lambda: open(STATE + "/config.json", "rb"),
    "list the state directory": lambda: os.listdir(STATE),
    "look at other processes": lambda: os.listdir("/proc"),
    "write a file": lambda: open("/tmp/prove-apps", "w"),
    "answer the socket of the apps": lambda: os.unlink(STATE + "/run/apps/apps.sock"),
    "open a socket": lambda: socket.socket(socket.AF_UNIX),
    "reach the network": lambda: socket.create_connection(("127.0.0.1", {port}), 2),
    "start a process": os.fork,
    "start a program": lambda: subprocess.run(["true"]),
    "end its neighbours": lambda: os.kill(os.getppid(), signal.SIGTERM),
    "take two gigabytes": lambda: bytearray(2 * 1024**3),
    "open a thousand files": lambda: [open(os.devnull) for _ in range(1000)],
}}


@page("")
async def tries(request, db):
    found = {{}}
    for name, act in TRIES.items():
        try:
            act()
            found[name] = "DONE"
        except BaseException as error:
            found[name] = type(error).__name__
    return json.dumps(found)
"""


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [await _one(state, each) for each in attempts]


async def _one(state: Path, attempt: dict[str, Any]) -> dict[str, Any]:
    code = _CODE.format(state=str(state), port=int(attempt.get("port", 1)))
    files = {"app.toml": b"", "pages.py": code.encode()}
    try:
        reader, writer = await asyncio.open_unix_connection(str(state / "run" / "apps" / "apps.sock"))
    except OSError as error:
        return {"got": "error", "detail": f"{type(error).__name__}: {error}"}
    try:
        async with asyncio.timeout(PATIENCE):
            sent = {path: b64encode(raw).decode() for path, raw in files.items()}
            await _ask(reader, writer, {"op": "load", "hash": folder_hash(files), "files": sent})
            answer = await _ask(reader, writer, {"op": "page", "path": "", "query": {}, "lang": "en"})
    except (ConnectionError, asyncio.IncompleteReadError):
        return {"got": "refused", "detail": "not let in"}
    except (TimeoutError, ValueError) as error:
        return {"got": "error", "detail": f"{type(error).__name__}: {error}"}
    finally:
        writer.close()
    if answer.get("op") != "answer":
        return {"got": "error", "detail": str(answer)[:300]}
    return {"got": "done", "value": unpack(str(answer["html"]).encode())}


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, frame: Frame) -> Frame:
    writer.write(pack(frame))
    await writer.drain()
    head = await reader.readexactly(4)
    return unpack(await reader.readexactly(length_of(head, FROM_APP)))
