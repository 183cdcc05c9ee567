"""Try to send something off this machine: {"host", "port", "by": "tcp" | "udp"}. The address belongs to nobody (RFC 5737, RFC 3849).

`refused`: the kernel did not let it out. `nowhere`: it has no way there for anybody. `done`: it left, whatever became of it.
"""

import asyncio
import errno
import socket
from pathlib import Path
from typing import Any

PATIENCE_S = 1.0
REFUSALS = {errno.ECONNREFUSED, errno.EPERM, errno.EACCES, errno.EHOSTUNREACH}
NOWHERE = {errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.ENETDOWN}


async def do(_: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(
        await asyncio.gather(*(_try(**{name: each[name] for name in ("host", "port", "by")}) for each in attempts))
    )


async def _try(host: str, port: int, by: str) -> dict[str, Any]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM if by == "tcp" else socket.SOCK_DGRAM) as out:
            out.setblocking(False)
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.get_running_loop().sock_connect(out, (host, port))
            if by == "udp":
                out.send(b"\0")
    except TimeoutError:
        return {"got": "done", "detail": "it left, and nobody answered"}
    except OSError as error:
        said = "refused" if error.errno in REFUSALS else "nowhere" if error.errno in NOWHERE else "error"
        return {"got": said, "detail": error.strerror}
    return {"got": "done", "detail": "it left"}
