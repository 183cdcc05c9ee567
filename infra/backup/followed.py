"""Backups that follow the gate's log: which there are, and writing down what the lock records since (S6).

Everything about one is in its folder: after a restart it goes on behind the last whole line.
"""

import asyncio
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from infra.backup import gatelog
from infra.backup.gatelog import Place
from infra.backup.manifest import Manifest, read, whole
from infra.backup.sealing import Recipients
from infra.local import folders
from infra.local.layout import Layout
from shared.clock import now
from shared.errors import Refused, SchleuseError
from shared.operator import acall
from shared.signing import PublicKeys

EVERY = 2.0
HEAD_EVERY = 60.0
PATIENCE = 20.0


@dataclass(frozen=True)
class Known:
    """A backup that was made here: where, and to whom it is encrypted."""

    directory: str
    recipients: tuple[str, ...]
    at: str

    def manifest(self, layout: Layout) -> Manifest:
        return read(whole(Path(self.directory)), PublicKeys.load(layout.public_keys))


def known(layout: Layout) -> list[Known]:
    """Oldest first."""
    try:
        listed = json.loads(layout.backups.read_text())
        return [Known(each["directory"], tuple(each["recipients"]), each["at"]) for each in listed]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(f"{layout.backups} cannot be read: {error}", code="state_broken") from None


def remember(layout: Layout, one: Known) -> None:
    _write(layout, [*(each for each in known(layout) if each.directory != one.directory), one])


def forget(layout: Layout, directory: Path) -> bool:
    """Stop following a backup; whether it was known."""
    listed = known(layout)
    left = [each for each in listed if each.directory != str(directory)]
    _write(layout, left)
    return len(left) < len(listed)


def _write(layout: Layout, listed: list[Known]) -> None:
    folders.write(layout.backups, json.dumps([asdict(each) for each in listed], indent=1), 0o600)


@dataclass
class Follower:
    """One backup's own follower. `place`: None until its folder was read."""

    one: Known
    place: Place | None = None
    fault: str = ""
    until: str = ""
    _head_at: float = float("-inf")
    _recipients: Recipients | None = field(default=None, repr=False)

    async def step(self, layout: Layout, asking: "Asking | None" = None) -> None:
        """Write down what is new. What goes wrong is a fault that `status` tells; the next step tries again."""
        try:
            if self.place is None:
                self.place = await asyncio.to_thread(self._open, layout)
            await self._follow(self.place, asking or Asking(layout))
            self.fault = ""
        except SchleuseError as error:
            self.fault = error.message
        except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
            self.fault = str(error) or type(error).__name__
            self.place = None

    async def _follow(self, place: Place, asking: "Asking") -> None:
        await asyncio.to_thread(whole, Path(self.one.directory))
        while True:
            found = await asking.after(place)
            some = bool(found["entries"] or found["decisions"])
            clock = asyncio.get_running_loop().time()
            if some or clock - self._head_at > HEAD_EVERY:
                self.place = place = await asyncio.to_thread(self._write, place, found, some=some)
                self._head_at, self.until = clock, now().isoformat(timespec="seconds")
            if not some:
                return
            # entries that came in portions: the head is written again once the log has reached it
            self._head_at = float("-inf")

    def _open(self, layout: Layout) -> Place:
        manifest = self.one.manifest(layout)
        self._recipients = Recipients(self.one.recipients)
        start = Place(manifest.gate_seq, manifest.gate_hash, manifest.decision_position)
        return gatelog.last_place(Path(self.one.directory), start)

    def _write(self, place: Place, found: dict[str, Any], *, some: bool) -> Place:
        directory = Path(self.one.directory)
        assert self._recipients is not None, "opened before"
        if some:
            return gatelog.append(directory, self._recipients, found, place)
        gatelog.put_head(directory, found["head"])
        return place

    def report(self) -> dict[str, Any]:
        return {"directory": self.one.directory, "at": self.one.at, "followed_until": self.until, "fault": self.fault}


class Asking:
    """The lock is asked once for all backups that stand at the same place."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._found: dict[Place, dict[str, Any]] = {}

    async def after(self, place: Place) -> dict[str, Any]:
        if place not in self._found:
            args = {"seq": place.seq, "decided": place.decided}
            self._found[place] = await acall(self._layout.state, "bridge", "gate.after", args, PATIENCE)
        return self._found[place]


class Followers:
    """All of an installation's; the supervisor runs it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._all: dict[str, Follower] = {}

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self.step()
            await asyncio.sleep(EVERY)

    async def step(self) -> None:
        try:
            listed = {each.directory: each for each in known(self._layout)}
        except SchleuseError:
            return
        self._all = {name: self._all.get(name) or Follower(each) for name, each in listed.items()}
        asking = Asking(self._layout)
        for follower in self._all.values():
            await follower.step(self._layout, asking)

    def report(self) -> list[dict[str, Any]]:
        return [each.report() for each in self._all.values()]
