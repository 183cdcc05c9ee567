"""Frames between the console and the process of an app: four bytes of length, then UTF-8 JSON.

The console asks (`load`, `page`, `job`) and reads answers; while it waits the app may ask back for rows (`query`) or to write some (`write`).
"""

import json
import socket
from typing import Any

from shared.apps.folder import MAX_FOLDER

TO_APP = MAX_FOLDER * 2
"""Bytes of a frame to an app: its whole folder, in base64."""
FROM_APP = 4 * 1024 * 1024
"""Bytes of a frame from an app; who sends a larger one is ended."""
MAX_PAGE = 1024 * 1024
MAX_ROWS = 10_000
MAX_ANSWER = 4 * 1024 * 1024
"""Rows, and bytes of rows, of one query of an app."""
Frame = dict[str, Any]


class BadFrame(ValueError):
    """What came is no frame, or is larger than may be."""


def pack(frame: Frame) -> bytes:
    raw = json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return len(raw).to_bytes(4, "big") + raw


def unpack(raw: bytes) -> Frame:
    try:
        found = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"a frame is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadFrame("a frame is no object")
    return found


def length_of(head: bytes, most: int) -> int:
    length = int.from_bytes(head, "big")
    if length > most:
        raise BadFrame(f"a frame of {length:,} bytes; the most is {most:,}")
    return length


def send(to: socket.socket, frame: Frame) -> None:
    """Blocking, for the app's side."""
    to.sendall(pack(frame))


def receive(of: socket.socket, most: int = TO_APP) -> Frame | None:
    """Blocking; None when the other side is gone."""
    head = _exactly(of, 4)
    raw = _exactly(of, length_of(head, most)) if head else b""
    return unpack(raw) if raw else None


def _exactly(of: socket.socket, length: int) -> bytes:
    found = bytearray()
    while len(found) < length:
        more = of.recv(min(length - len(found), 1 << 20))
        if not more:
            return b""
        found += more
    return bytes(found)
