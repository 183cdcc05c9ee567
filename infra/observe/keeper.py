"""The supervisor's part in it: keeps the writer of the reports running, and ends it with everything else."""

import asyncio
import shutil
from collections.abc import Callable

from infra.local.command import environment
from infra.local.prepare import Prepared

AGAIN_SECONDS = 5.0
GRACE_SECONDS = 3.0


async def keep_observing(prepared: Prepared, say: Callable[[str], None]) -> None:
    """Until cancelled. It is not needed by anything else: whatever becomes of it, the system runs on."""
    while True:
        try:
            await _run_once(prepared, say)
        except OSError as error:
            say(f"the reports for the console are not written: {error}")
        await asyncio.sleep(AGAIN_SECONDS)


async def _run_once(prepared: Prepared, say: Callable[[str], None]) -> None:
    runtime = prepared.runtime
    command = [str(runtime.python), "-m", "infra.observe.writer", "--state", str(prepared.layout.state)]
    setpriv = shutil.which("setpriv", path="/usr/bin:/bin:/usr/local/bin")
    wrapped = [setpriv, "--no-new-privs", "--pdeathsig=TERM", "--", *command] if setpriv else command
    process = await asyncio.create_subprocess_exec(
        *wrapped, env=environment(runtime), cwd=runtime.code, start_new_session=True,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        while line := await process.stderr.readline():
            say(f"reports: {line.decode(errors='replace').strip()}")
        say(
            f"the writer of the reports ended with code {await process.wait()}; it is started again in {AGAIN_SECONDS:g} s"
        )
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
