"""The first thing that runs in every container of ours: is it who it must be? Then it becomes its part. Standard library only.

    python -m infra.docker.enter PART [COMMAND...]

Exit code 78: it will not work by trying again; the line on standard error says why and what to change.
"""

import os
import pwd
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from infra.docker import facts, uids

STATE = Path("/state")
PYTHON = "/opt/venv/bin/python"
HOPELESS = 78
SERVICES = ("agent", "console", "site", "connectors", "bridge")
AS_ROOT = ("setup", "operator")
"""They are the administrator's: they make everybody's folders, and attack as everybody."""


def command(part: str, given: Sequence[str]) -> list[str]:
    """What the container becomes. KeyError for an unknown part."""
    if part == "operator":
        return list(given) or ["/opt/venv/bin/schleuse", "status"]
    module = [PYTHON, "-P", "-m"]
    if part in SERVICES:
        return [*module, f"services.{part}", "--state", str(STATE)]
    return {
        "postgres": [*module, "infra.docker.postgres"],
        "nats": ["/opt/venv/bin/nats-server", "-c", str(STATE / "nats" / "nats.conf")],
        "keeper": [*module, "infra.docker.keeper"],
        "setup": [*module, "infra.docker.setup"],
        "apps": [*module, "infra.apps.host", "--state", str(STATE)],
    }[part]


def user_of(part: str) -> str:
    return {"postgres": "pgadm"}.get(part, part)


def run_folder(part: str) -> Path:
    """Where a part leaves what others may look at."""
    return STATE / "run" / {"postgres": "pg"}.get(part, part)


def faults(part: str, found: dict[str, object]) -> Iterator[str]:
    """Why this container must not run. Each sentence says what to change."""
    yield from _strange_users()
    if part in AS_ROOT:
        if found["uid"] != [0]:
            yield f'{part} must run as root inside its container, not as uid {found["uid"]}: set `user: "0:0"`'
        return
    user = uids.users()[user_of(part)]
    wanted = f'set `user: "{user.uid}:{user.uid}"` in docker-compose.yml'
    if found["uid"] != [user.uid] or found["gid"] != [user.uid]:
        yield (
            f"{part} runs as uid {found['uid']} and gid {found['gid']}, but infra/docker/uids says {user.uid}: "
            f"the database and the other parts would take it for somebody else; {wanted}"
        )
    groups = {user.uid, uids.group()} if user.socket else {user.uid}
    if not set(_numbers(found["groups"])) <= groups:
        yield f"{part} is in the groups {found['groups']}, but may be in {sorted(groups)} only: correct `group_add`"
    if any(_counts(found["capabilities"])):
        yield f"{part} holds capabilities: keep `cap_drop: [ALL]` and no `privileged`"
    if not found["no_new_privileges"]:
        yield f'{part} could gain privileges: keep `security_opt: ["no-new-privileges:true"]`'
    if not found["read_only_root"]:
        yield f"{part} can write to its image: keep `read_only: true`"


def _strange_users() -> Iterator[str]:
    """The Postgres server takes whoever comes for the name that its image gives the uid."""
    for user in uids.users().values():
        try:
            uid = pwd.getpwnam(user.name).pw_uid
        except KeyError:
            yield f"this image has no user {user.name}: build the images anew"
            continue
        if uid != user.uid:
            yield f"in this image {user.name} is uid {uid}, but infra/docker/uids says {user.uid}: build the images anew"


def _numbers(value: object) -> list[int]:
    return list(value) if isinstance(value, list) else []


def _counts(value: object) -> list[int]:
    return list(value.values()) if isinstance(value, dict) else []


def beside(becomes: list[str]) -> int:
    """Run the operator's command as a child; its exit code. The first process of a container inherits every orphan and must not be the command itself."""
    child = os.fork()
    if not child:
        os.execvp(becomes[0], becomes)  # noqa: S606 - what the operator typed
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    while True:
        ended, status = os.wait()
        if ended == child:
            return os.waitstatus_to_exitcode(status)


def main() -> None:
    part, given = sys.argv[1], sys.argv[2:]
    found = facts.gather()
    if said := list(faults(part, found)):
        for line in said:
            sys.stderr.write(f"schleuse: {line}\n")
        raise SystemExit(HOPELESS)
    becomes = command(part, given)
    if part not in AS_ROOT:
        facts.write(run_folder(part), found)
    os.umask(0o077 if part == "postgres" else 0o022)
    if part == "operator":
        raise SystemExit(beside(becomes))
    os.execvp(becomes[0], becomes)  # noqa: S606 - our own programs, or what the operator typed


if __name__ == "__main__":
    main()
