"""The supervisor as a program of its own: events as JSON lines until everything is ready, then silent."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from infra.local.supervisor import supervise

Event = dict[str, Any]
LAST = ("ready", "stopped")


class Reporter:
    """Writes events for whoever started us, who may have gone."""

    def __init__(self) -> None:
        self._open = True

    def __call__(self, event: Event) -> None:
        if not self._open:
            return
        try:
            sys.stdout.write(json.dumps(event) + "\n")
            sys.stdout.flush()
        except (BrokenPipeError, ValueError):
            self._close()
            return
        if event["kind"] in LAST:
            self._close()

    def _close(self) -> None:
        self._open = False
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        os.close(nothing)


def main() -> int:
    parser = argparse.ArgumentParser(prog="infra.local.supervisor")
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--port-base", type=int)
    parser.add_argument("--cluster", action=argparse.BooleanOptionalAction)
    given = parser.parse_args()
    return asyncio.run(supervise(given.state, given.port_base, Reporter(), cluster=given.cluster))


def launch(named: Path, port_base: int | None, *, cluster: bool | None = None) -> Iterator[Event]:
    """Start a supervisor in the background and yield its events until it is ready, or has failed and stopped again."""
    command = [sys.executable, "-m", "infra.local.supervisor", "--state", str(named.absolute())]
    command += ["--port-base", str(port_base)] if port_base is not None else []
    command += [] if cluster is None else ["--cluster" if cluster else "--no-cluster"]
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(  # noqa: S603 - our own module
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, cwd=root, text=True
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    failed = False
    for line in process.stdout:
        event: Event = json.loads(line)
        failed = failed or event["kind"] == "failed"
        yield event
        if event["kind"] == "ready":
            return
    code = process.wait()
    if failed:
        return
    said = process.stderr.read().strip().splitlines()
    yield {
        "kind": "failed",
        "text": said[-1] if said else f"the supervisor ended with code {code}",
        "at": 0.0,
        "code": 1,
    }
