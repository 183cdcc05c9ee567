"""Ask an operator socket something: {"socket": service, "token"}. `refused`: out of reach, or answered with 401."""

import asyncio
import json
from pathlib import Path
from typing import Any

PATIENCE = 10.0


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [await _ask(state / "run" / each["socket"] / "op.sock", each["token"]) for each in attempts]


async def _ask(path: Path, token: str) -> dict[str, Any]:
    try:
        reader, writer = await asyncio.open_unix_connection(str(path))
    except PermissionError:
        return {"got": "refused", "detail": "out of reach"}
    except OSError as error:
        return {"got": "error", "detail": f"{type(error).__name__}: {error}"}
    try:
        writer.write(json.dumps({"verb": "health", "args": {}, "token": token}).encode() + b"\n")
        async with asyncio.timeout(PATIENCE):
            await writer.drain()
            answer = json.loads(await reader.readline() or b"{}")
    except (OSError, TimeoutError, ValueError) as error:
        return {"got": "error", "detail": f"{type(error).__name__}: {error}"}
    finally:
        writer.close()
    if "result" in answer:
        return {"got": "done"}
    status = answer.get("error", {}).get("status")
    return {"got": "refused" if status == 401 else "error", "detail": str(answer)[:200]}
