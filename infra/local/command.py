"""How a part is started: as its OS user, without capabilities, in a clean environment, ended when the supervisor dies."""

import os
import shutil
import subprocess
from collections.abc import Sequence

from infra.local.identities import Identities
from infra.local.runtime import Runtime
from shared.errors import Refused

PASSED_ON = ("PG_BIN", "NATS_SERVER")
IF_STARTER_LIVES = 'test "$PPID" = "$0" && exec "$@"'
"""The signal is sent for a death from now on. Who was killed before that sends none: what would run unknown to the next start does not begin."""


def environment(runtime: Runtime) -> dict[str, str]:
    """Nothing of the caller's environment but the two variables that name other servers."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "PYTHONPATH": runtime.path,
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **kept,
    }


def without_network(command: list[str]) -> list[str]:
    """Wrapped so that it begins in an empty network, where the caller may make one; as it was otherwise (the filter of infra.apps holds anyway)."""
    unshare = shutil.which("unshare", path="/usr/bin:/bin:/usr/local/bin")
    if unshare is None or os.getuid() != 0:
        return command
    tried = subprocess.run([unshare, "--net", "true"], check=False, capture_output=True)  # noqa: S603 - fixed tool
    return [unshare, "--net", "--", *command] if tried.returncode == 0 else command


def as_user(who: Identities, name: str, command: Sequence[str], *, death_signal: str = "TERM") -> list[str]:
    """Wrap a command with setpriv, for a child of this process. `name` is an entry of who.users; `death_signal` is sent when this process dies."""
    setpriv = shutil.which("setpriv", path="/usr/bin:/bin:/usr/local/bin")
    uid, gid = who.owner(name)
    switching = uid != os.getuid()
    if setpriv is None:
        if switching:
            raise Refused(
                "setpriv (util-linux) is needed to run the services as OS users of their own, and is not installed",
                code="no_setpriv",
            )
        return list(command)
    options = ["--no-new-privs", f"--pdeathsig={death_signal}"]
    if switching:
        options += [f"--reuid={uid}", f"--regid={gid}", "--init-groups", "--bounding-set=-all", "--inh-caps=-all"]
    return [setpriv, *options, "--", "/bin/sh", "-c", IF_STARTER_LIVES, str(os.getpid()), *command]
