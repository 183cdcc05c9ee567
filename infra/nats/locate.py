"""Where nats-server is: $NATS_SERVER, beside the interpreter (the wheel puts it there), in a runtime copy, or on the path."""

import os
import shutil
import sys
from pathlib import Path

from shared.errors import Refused


def server() -> Path:
    """The executable. Refused when there is none."""
    named = os.environ.get("NATS_SERVER")
    candidates = [Path(named)] if named else []
    candidates += [Path(sys.prefix) / "bin" / "nats-server", Path(sys.executable).parent / "nats-server"]
    if on_path := shutil.which("nats-server"):
        candidates.append(Path(on_path))
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise Refused("nats-server was not found: run `make setup`, or set NATS_SERVER to it", code="no_nats")
