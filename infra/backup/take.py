"""Make a backup: the databases at one point, then the streams, the workspace and the settings; the manifest last; then it appears."""

import asyncio
import errno
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from infra.backup import directory as places
from infra.backup import followed, manifest, running, streams
from infra.backup.followed import Follower, Known
from infra.backup.manifest import Manifest, Stored
from infra.backup.pouring import Counting, Draining
from infra.backup.running import Machine, Tell
from infra.backup.sealing import Identities, Reader, Recipients
from infra.local import config, identities, place
from infra.local.config import Config
from infra.local.layout import VERSION, Layout
from infra.local.runtime import choose
from shared.clock import now
from shared.errors import Refused, SchleuseError
from shared.signing import SigningKey

DATABASES, STREAMS, SETTINGS, PRICES = "databases.tar.age", "streams.age", "config.age", "prices.age"
WORKSPACE, SECRETS = "workspace.tar.age", "secrets.tar.age"
SPARE = 64 * 1024**2


@dataclass(frozen=True)
class Source:
    """The installation that is backed up."""

    machine: Machine
    settings: Config
    runs: bool

    @property
    def layout(self) -> Layout:
        return self.machine.layout


def source(state: Path) -> Source:
    """Refused unless it is a state directory of ours, of this release's version."""
    layout = Layout(state.resolve())
    found = config.read(layout)
    if found is None:
        raise Refused(f"{state} is no state directory; start one with `schleuse up`", code="state")
    if found.install_uid != os.getuid():
        raise Refused(f"only the user that installed {state} (uid {found.install_uid}) can back it up", code="user")
    if found.containers:
        raise Refused(
            f"{state} runs in containers, where no supervisor keeps its parts: stop it and copy its volumes together",
            code="containers",
        )
    if found.version != VERSION or not layout.backup_key.exists():
        raise Refused(
            f"{state} was made by an older release; start it once with `schleuse up`, which upgrades it", code="older"
        )
    who = identities.resolve()
    machine = Machine(layout, who, choose(layout, *who.owner("site")))
    return Source(machine, found, place.held(layout))


def take(state: Path, named: Path, recipients: Recipients, tell: Tell) -> dict[str, Any]:
    """{"directory", "files", "bytes", "seconds", "gate_seq", "left_out", "followed"}. Nothing stays of one that fails."""
    began = time.monotonic()
    made = source(state)
    directory = places.settle(named, made.layout)
    with _room(directory), places.held(directory) as partial, _databases_up(made, tell):
        _refuse_full(made, partial)
        signed = _Files(made, partial, recipients, tell).all()
        manifest.write(partial, signed, SigningKey.load(made.layout.backup_key))
        places.finish(partial)
    one = Known(str(directory), recipients.texts, signed.at.isoformat())
    followed.remember(made.layout, one)
    fault = asyncio.run(_begin_following(made.layout, one)) if made.runs else "nothing runs yet"
    sizes = {name: each.size for name, each in signed.files.items()}
    figures = {"bytes": sum(sizes.values()), "plain_bytes": sum(each.plain for each in signed.files.values())}
    seconds = round(time.monotonic() - began, 1)
    found = {"directory": str(directory), "files": sizes, "seconds": seconds, "gate_seq": signed.gate_seq, **figures}
    return found | {"left_out": list(signed.left_out), "followed": not fault, "not_followed": fault}


class _Files:
    """Writes one file after the other into the partial folder."""

    def __init__(self, made: Source, partial: Path, recipients: Recipients, tell: Tell) -> None:
        self._made, self._partial, self._recipients, self._tell = made, partial, recipients, tell
        self._files: dict[str, Stored] = {}
        self._left_out: list[str] = []

    def all(self) -> Manifest:
        at = now()
        # before the databases: what a file holds from outside stands there before the file is written, and must not be missing
        self._folder(WORKSPACE, "agent", self._made.layout.workspace)
        point = self._databases()
        saved = self._streams() if self._made.runs else None
        self._folder(SECRETS, "connectors", self._made.layout.secrets)
        with self._made.layout.config.open("rb") as file:
            self._store(SETTINGS, file)
        if self._made.layout.prices.is_file():
            with self._made.layout.prices.open("rb") as file:
                self._store(PRICES, file)
        return Manifest(
            install_id=self._made.settings.install_id,
            release=_release(),
            state_version=VERSION,
            at=at,
            streams=saved,
            recipients=self._recipients.texts,
            left_out=tuple(self._left_out),
            files=self._files,
            **point,
        )

    def _databases(self) -> dict[str, Any]:
        self._tell({"step": "Databases"})
        state = str(self._made.layout.state)
        return self._program(DATABASES, "pgadm", "infra.backup.doing.take_databases", "--state", state)

    def _streams(self) -> streams.Saved:
        """Through a file of the partial folder: the bus hands messages out faster than they may be encrypted, or slower."""
        self._tell({"step": "Streams"})
        plain = self._partial / ".streams"
        found = asyncio.run(streams.save(self._made.layout, self._made.settings.bus_ports, plain))
        with plain.open("rb") as file:
            self._store(STREAMS, file)
        plain.unlink()
        return found

    def _folder(self, name: str, user: str, folder: Path) -> None:
        """Secrets after the databases: one is in its folder before a row says so. Workspaces before them."""
        if folder.is_dir():
            self._tell({"step": folder.name.capitalize()})
            said = self._program(name, user, "infra.backup.doing.folder", "take", str(folder))
            self._left_out += [f"{folder.name}/{each}: holds an age identity" for each in said["left_out"]]

    def _program(self, name: str, user: str, module: str, *arguments: str) -> dict[str, Any]:
        with running.started(self._made.machine, self._tell, user, module, *arguments) as program:
            assert program.process.stdout is not None
            self._store(name, program.process.stdout)
            return program.result()

    def _store(self, name: str, reading: Reader) -> None:
        written = self._recipients.write(reading, self._partial / name)
        self._files[name] = Stored(size=written.size, sha256=written.sha256, plain=written.plain)


@contextmanager
def _databases_up(made: Source, tell: Tell) -> Iterator[None]:
    """A stopped installation is held, so that nobody starts it meanwhile, and its Postgres alone is started."""
    with ExitStack() as stack:
        if not made.runs:
            tell({"step": "Starting Postgres"})
            stack.callback(os.close, place.hold(made.layout))
            stack.enter_context(running.postgres(made.machine))
        yield


@contextmanager
def _room(directory: Path) -> Iterator[None]:
    """A disk that fills says so in a sentence; what was written is gone again by then."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise SchleuseError(
            f"no room for the backup in {directory} ({error.strerror}); nothing of it was kept. Make room, or name a folder on another disk.",
            code="disk_full",
        ) from None


async def _begin_following(layout: Layout, one: Known) -> str:
    """Once now, so that the log is there from the start; the supervisor goes on. What went wrong, or nothing."""
    follower = Follower(one)
    await follower.step(layout)
    return follower.fault


def _refuse_full(made: Source, partial: Path) -> None:
    """Before anything is read: what the databases take now is what their backup takes, about."""
    needed = _size(made) + SPARE
    free = os.statvfs(partial).f_bavail * os.statvfs(partial).f_frsize
    if free < needed:
        raise SchleuseError(
            f"the disk that holds {partial.parent} has {free // 1024**2} MiB free; about {needed // 1024**2} MiB are needed. Nothing was written.",
            code="disk_full",
        )


def _size(made: Source) -> int:
    """Bytes of the database files; zero where only the server's own user could count them and we are not root."""
    total = 0
    for folder, _, names in os.walk(made.layout.pg):
        if "/pg_wal" in folder:
            continue
        for name in names:
            try:
                total += os.lstat(f"{folder}/{name}").st_size
            except OSError:  # gone meanwhile
                continue
    return total


def _release() -> str:
    try:
        return version("schleuse")
    except PackageNotFoundError:
        return "0.1.0"


def verify(folder: Path, found: Manifest, opened: Identities, tell: Tell) -> None:
    """Every byte, and that these identities can read every file to its end. Refused with the first that is not so."""
    count = Counting(tell)
    manifest.check_files(folder, found, count.add)
    for name in found.files:
        opened.pour(folder / name, Draining(count))
