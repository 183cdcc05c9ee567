"""The Postgres container: makes the cluster where there is none, runs the server, provisions, and says when that is complete.

The same programs as without containers (infra.postgres), by the same user. SIGTERM stops the server fast: what is committed is on disk.
"""

import asyncio
import os
import signal
import subprocess
import sys
from types import FrameType

from infra.docker.enter import HOPELESS, STATE, run_folder
from infra.docker.healthy import PROVISIONED
from infra.local import readiness
from infra.local.layout import Layout
from infra.postgres import launch
from shared.errors import Refused

START_SECONDS = 120.0


def main() -> int:
    layout = Layout(STATE)
    mark = run_folder("postgres") / PROVISIONED
    mark.unlink(missing_ok=True)
    os.umask(0o077)
    try:
        command = launch.prepare(layout)
    except (Refused, OSError, subprocess.CalledProcessError) as error:
        return _failed(f"the cluster cannot be prepared: {error}", HOPELESS)
    server = subprocess.Popen(command)  # noqa: S603 - the located server

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.send_signal(signal.SIGINT)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if not asyncio.run(readiness.until(lambda: readiness.postgres(layout.pg_socket_dir), START_SECONDS)):
        server.send_signal(signal.SIGQUIT)
        return _failed("the server did not start", server.wait() or 1)
    done = subprocess.run([sys.executable, "-P", "-m", "infra.postgres.provision", "--state", str(STATE)], check=False)  # noqa: S603 - our own module
    if done.returncode:
        server.send_signal(signal.SIGINT)
        server.wait()
        return _failed("provisioning failed", HOPELESS)
    mark.touch(mode=0o644)
    code = server.wait()
    mark.unlink(missing_ok=True)
    return code


def _failed(text: str, code: int) -> int:
    sys.stderr.write(f"schleuse: {text}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
