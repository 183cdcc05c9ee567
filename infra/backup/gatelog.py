"""`gate.log` beside a backup: what the lock recorded since, one line for each time something was added, encrypted to the backup's recipients.

    {"format": 1, "from": 18, "to": 20, "hash": hash of entry 20, "decided": 77, "sealed": age file, base64}

Inside: {"entries": [...], "decisions": [...]} as the lock's verb `gate.after` gives them: the signed bytes as they are, with who stands behind them.
`gate.head` is the lock's newest signed head: how far the log reached, and when that was so.
"""

import base64
import json
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from infra.backup.directory import HEAD, LOG
from infra.backup.entries import fsync_folder
from infra.backup.sealing import Identities, Recipients
from infra.local import folders
from schemas.statements import GateEntry, GateHead, Signed
from schemas.text import BadJson, sha256
from shared.errors import BadSignature, Refused
from shared.signing import PublicKeys

FORMAT = 1
BLOCK = 64 * 1024
Record = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """The last entry and the last decision that were written down."""

    seq: int
    hash: str
    decided: int


@dataclass(frozen=True)
class Followed:
    """What a gate.log tells. `gap`: why it cannot be taken as complete, or nothing. `until`: when the lock last said that there is no more."""

    entries: list[Record]
    decisions: list[Record]
    until: datetime | None
    gap: str


def signed(record: Record, kind: str = "") -> Signed:
    """`entry`, or `statement` with its own signature, of a record."""
    names = ("statement", "statement_signature", "statement_key_id") if kind else ("entry", "signature", "key_id")
    return Signed(
        payload=base64.b64decode(record[names[0]]),
        signature=base64.b64decode(record[names[1]]),
        key_id=record[names[2]],
    )


def append(directory: Path, recipients: Recipients, found: Record, after: Place) -> Place:
    """One more line, durable when this returns. OSError as the disk reports it."""
    entries, decisions = found["entries"], found["decisions"]
    place = Place(
        entries[-1]["seq"] if entries else after.seq,
        entries[-1]["hash"] if entries else after.hash,
        max([after.decided, *(each["position"] for each in decisions)]),
    )
    sealed = recipients.seal(json.dumps({"entries": entries, "decisions": decisions}).encode())
    line = {"format": FORMAT, "from": after.seq + 1, "to": place.seq, "hash": place.hash, "decided": place.decided}
    _add_line(directory / LOG, json.dumps(line | {"sealed": base64.b64encode(sealed).decode()}).encode() + b"\n")
    return place


def put_head(directory: Path, head: Record) -> None:
    folders.write(directory / HEAD, json.dumps(head), 0o600)


def last_place(directory: Path, start: Place) -> Place:
    """Where to go on: after the last whole line, or at the backup's own place."""
    place = start
    for line in _lines(directory / LOG):
        place = Place(line["to"], line["hash"], line["decided"])
    return place


def read(directory: Path, identities: Identities, keys: PublicKeys, start: Place) -> Followed:
    """Everything that continues the chain from the backup's place on; what does not is left, and named as a gap."""
    entries: list[Record] = []
    decisions: list[Record] = []
    head, gap = (start.seq, start.hash), ""
    try:
        for line in _lines(directory / LOG):
            inside = json.loads(identities.open(base64.b64decode(line["sealed"]), LOG))
            for each in inside["entries"]:
                head = _follow(each, head, keys)
                entries.append(each)
            decisions += inside["decisions"]
    except (ValueError, KeyError, TypeError, BadSignature, BadJson, ValidationError, Refused) as error:
        gap = f"{LOG} does not go on after entry {head[0]}: {error}"[:300]
    until, gap = _until(directory / HEAD, keys, head, gap)
    return Followed(entries, decisions, until, gap)


def _follow(record: Record, head: tuple[int, str], keys: PublicKeys) -> tuple[int, str]:
    gate = signed(record)
    entry = keys.verify("gate", gate, GateEntry)
    if (entry.seq, entry.previous) != (head[0] + 1, head[1]):
        raise BadSignature(f"entry {entry.seq} does not continue it")
    if entry.statement_hash != sha256(base64.b64decode(record["statement"])):
        raise BadSignature(f"entry {entry.seq} was sealed for another statement")
    return entry.seq, gate.hash


def _until(path: Path, keys: PublicKeys, head: tuple[int, str], gap: str) -> tuple[datetime | None, str]:
    """When the lock last said that its log ends where ours does."""
    try:
        found = json.loads(path.read_text())
        seal = Signed(
            payload=base64.b64decode(found["payload"]),
            signature=base64.b64decode(found["signature"]),
            key_id=found["key_id"],
        )
        said = keys.verify("gate", seal, GateHead)
    except FileNotFoundError:
        return None, gap or f"there is no {HEAD}: nobody knows what was withdrawn since the backup"
    except (ValueError, KeyError, TypeError, BadSignature, ValidationError) as error:
        return None, gap or f"{HEAD} cannot be believed: {error}"[:300]
    if not gap and said.seq > head[0]:
        gap = (
            f"{LOG} ends at entry {head[0]}, but the lock's log had {said.seq} at {said.at:%Y-%m-%d %H:%M}: it was cut"
        )
    if not gap and said.seq == head[0] and said.head != head[1]:
        gap = f"{LOG} and the lock's signed head differ at entry {head[0]}"
    return said.at, gap


def _lines(path: Path) -> list[Record]:
    """Whole lines only: the last one may have been cut by a crash while it was written."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    found = []
    for line in data.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        record = json.loads(line)
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ValueError(f"a line of {path.name} has another format")
        found.append(record)
    return found


def _add_line(path: Path, line: bytes) -> None:
    """Behind the last whole line; what a crash left behind it goes."""
    fresh = not path.exists()
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        size = _whole_length(handle)
        os.ftruncate(handle, size)
        os.lseek(handle, size, os.SEEK_SET)
        try:
            if os.write(handle, line) != len(line):
                raise OSError(28, "No space left on device", str(path))
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)
    if fresh:
        fsync_folder(path.parent)


def _whole_length(handle: int) -> int:
    """Bytes up to and with the last line end, looked for from the back."""
    end = os.fstat(handle).st_size
    while end:
        start = max(0, end - BLOCK)
        found = os.pread(handle, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
