"""How console and engine talk: one line of JSON each way, after a request so many bytes of rows as its `bytes` says."""

import json
from typing import Any

LONGEST_LINE = 64 * 1024**2
LONGEST_BODY = 512 * 1024**2
READY = b"ready\n"


def line(content: dict[str, Any]) -> bytes:
    """Decimals, ids and times as text."""
    return json.dumps(content, default=str).encode() + b"\n"
