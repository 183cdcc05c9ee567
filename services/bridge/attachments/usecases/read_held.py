"""A submission that was put aside, as it came."""

import json
from typing import Any

from asyncpg import Record

from shared.bus import Received
from shared.bus.received import Reader

_READER = Reader("bridge", None)


def read_held(row: Record) -> Received[Any]:
    """It was read once, before it was put aside; Unreadable when its row was changed since."""
    return _READER.read(row["subject"], json.loads(row["headers"]), row["body"])
