"""What travels between the bridge and its inspecting child: a length in four bytes, then JSON."""

import json
import struct
from typing import Any

LENGTH = struct.Struct(">I")
MAX_JOB = 8 * 1024 * 1024
"""Bytes of a job: two bodies of 512 KiB with room for escapes."""
MAX_REPLY = 512 * 1024


def frame(value: dict[str, Any]) -> bytes:
    """Length-prefixed UTF-8 JSON."""
    raw = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return LENGTH.pack(len(raw)) + raw


def length_of(head: bytes, most: int) -> int:
    """Bytes that follow a frame's head; ValueError when it announces more than `most`."""
    (length,) = LENGTH.unpack(head)
    if length > most:
        raise ValueError(f"a frame of {length} bytes; at most {most} are read")
    return int(length)
