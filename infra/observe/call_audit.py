"""The call audit beside everything that bears witness to it: its own checkpoints, those that the lock countersigned and kept, the hash with which
each entry crossed the lock, and the console's copy (rule 17). Whoever rewrites one of them contradicts another.

Others are read before the audit itself: what they have must be in it, while what it has may still be on its way to them.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from shared.errors import SchleuseError

BLOCK = 1000
PAGE = 20_000
SETTLE = 2.0
"""Seconds after which an entry that is on its way has arrived, while later ones are there."""
Ask = Callable[[str, str, dict[str, Any]], dict[str, Any]]
"""(service, verb, arguments) -> answer, as shared.operator.call gives it."""
WITNESSES = {"bridge": "the lock", "console": "the console"}


@dataclass(frozen=True)
class Finding:
    entry: int
    place: str
    reason: str


@dataclass
class Place:
    """What one witness has: digests of its blocks of hashes, and checkpoints by size."""

    blocks: dict[int, tuple[int, int, str]] = field(default_factory=dict)
    checkpoints: dict[int, tuple[str, str]] = field(default_factory=dict)

    @property
    def newest(self) -> int:
        return max((newest for _, newest, _ in self.blocks.values()), default=-1)


def verify(ask: Ask, settle: Callable[[], None] = lambda: time.sleep(SETTLE)) -> dict[str, Any]:
    """{"ok", "entries", "first_bad": number or None, "reason", "findings", "unasked", "places", "head", "seconds"}.

    `ok` only when everybody could be asked and nothing contradicts. What the audit's own service raises is the caller's.
    """
    began = time.monotonic()
    check = _Check(ask, settle)
    places = {name: place for name in WITNESSES if (place := check.read(name)) is not None}
    own = ask("connectors", "audit.verify", {})
    check.found += [Finding(own["first_bad"], "connectors", own["reason"])] if own["first_bad"] is not None else []
    kept = _checkpoints(ask, "connectors")
    for name, place in places.items():
        check.compare_entries(name, place, own)
        check.compare_checkpoints(name, place, kept, own)
    check.copy()
    worst = min(check.found, key=lambda each: (each.entry, each.place != "connectors"), default=None)
    return {
        "ok": worst is None and not check.unasked,
        "entries": own["entries"],
        "first_bad": None if worst is None else worst.entry,
        "reason": "; ".join(check.unasked) if worst is None else f"{worst.place}: {worst.reason}",
        "findings": [vars(each) for each in sorted(check.found, key=lambda each: each.entry)],
        "unasked": check.unasked,
        "places": {"connectors": own["checkpoints"]} | {name: _said(place) for name, place in places.items()},
        "head": own["head"],
        "seconds": round(time.monotonic() - began, 3),
    }


def _said(place: Place) -> dict[str, Any]:
    return {"newest": place.newest, "checkpoints": len(place.checkpoints)}


def _checkpoints(ask: Ask, service: str, faults: list[Finding] | None = None) -> dict[int, tuple[str, str]]:
    """Size -> (root, the statement's hash)."""
    found: dict[int, tuple[str, str]] = {}
    while True:
        page = ask(service, "audit.checkpoints", {"after": max(found, default=0), "limit": PAGE})
        found |= {size: (root, hashed) for size, root, hashed in page["checkpoints"]}
        for size, reason in page.get("faults", []):
            if faults is not None:
                faults.append(Finding(size - 1, service, f"its checkpoint over {size} entries does not hold: {reason}"))
        if len(page["checkpoints"]) < PAGE:
            return found


class _Check:
    def __init__(self, ask: Ask, settle: Callable[[], None]) -> None:
        self._ask, self._settle = ask, settle
        self.found: list[Finding] = []
        self.unasked: list[str] = []

    def read(self, name: str) -> Place | None:
        try:
            listed = self._ask(name, "audit.blocks", {})["blocks"]
            blocks = {block: (entries, newest, digest) for block, entries, newest, digest in listed}
            return Place(blocks, _checkpoints(self._ask, name, self.found))
        except SchleuseError as error:
            self._could_not_ask(name, error)
            return None

    def copy(self) -> None:
        """The console's copy, recomputed from its content."""
        try:
            said = self._ask("console", "audit.verify", {})
        except SchleuseError as error:
            self._could_not_ask("console", error)
            return
        if said["first_bad"] is not None:
            self.found.append(Finding(said["first_bad"], "console", said["reason"]))

    def compare_entries(self, name: str, place: Place, own: dict[str, Any]) -> None:
        """As far as the audit itself holds; and whether somebody has entries behind its end."""
        last = own["head"]["seq"]
        if place.newest > last and own["ok"]:
            self.found.append(
                Finding(last + 1, name, f"it is missing: {WITNESSES[name]} has entries up to {place.newest}")
            )
        for block in range(min(place.newest, last) // BLOCK + 1):
            held = place.blocks.get(block)
            if held is None or block >= len(own["blocks"]) or (held[0], held[2]) != (BLOCK, own["blocks"][block]):
                self._compare_block(name, block, min(place.newest, last))

    def _compare_block(self, name: str, block: int, last: int) -> None:
        ours = {seq: hashed for seq, hashed in self._hashes("connectors", block) if seq <= last}
        theirs = dict(self._hashes(name, block))
        if set(ours) - set(theirs):
            self._settle()
            theirs = dict(self._hashes(name, block))
        for seq, hashed in ours.items():
            if seq not in theirs:
                self.found.append(Finding(seq, name, f"{WITNESSES[name]} does not have it, and has later ones"))
                return
            if theirs[seq] not in (None, hashed):
                self.found.append(Finding(seq, name, f"{WITNESSES[name]} has it with another hash"))
                return

    def _hashes(self, service: str, block: int) -> Iterable[tuple[int, str | None]]:
        return [(seq, hashed) for seq, hashed in self._ask(service, "audit.hashes", {"block": block})["hashes"]]

    def compare_checkpoints(
        self, name: str, place: Place, kept: dict[int, tuple[str, str]], own: dict[str, Any]
    ) -> None:
        for size, (root, hashed) in place.checkpoints.items():
            ours = kept.get(size)
            if own["ok"] and size > own["entries"]:
                self.found.append(Finding(own["entries"], name, f"it is missing: {WITNESSES[name]} has a checkpoint over {size} entries"))  # fmt: skip
                return
            if ours != (root, hashed):
                what = "the connectors do not have" if ours is None else "contradicts that of the connectors"
                self.found.append(Finding(size - 1, name, f"a checkpoint over {size} entries that {WITNESSES[name]} has {what}"))  # fmt: skip
                return
        newest = max(place.checkpoints, default=0)
        lacking = [size for size in kept if size < newest and size not in place.checkpoints]
        if lacking:
            size = min(lacking)
            self.found.append(Finding(size - 1, name, f"{WITNESSES[name]} does not have the checkpoint over {size} entries, and has later ones"))  # fmt: skip

    def _could_not_ask(self, name: str, error: SchleuseError) -> None:
        line = f"{WITNESSES[name]} could not be asked: {error.message}"
        if line not in self.unasked:
            self.unasked.append(line)
