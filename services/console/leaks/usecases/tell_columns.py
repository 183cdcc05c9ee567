"""The lock is told what came and went of a column, and which columns there are (S14). Never a value."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from asyncpg import Record

from schemas.console.v1 import ColumnFingerprinted
from schemas.text import sha256
from services.console.leaks import store
from services.console.leaks.domain import COMPACT, PART, PART_REMOVED, Name, joined
from shared.clock import now
from shared.db import Tx
from shared.leaks.key import LIST, LeakKey, write_list

RENEW = timedelta(minutes=10)
"""So old may the list be; the lock believes it for an hour."""
EVENT = "column.fingerprinted"


async def tell_column(
    tx: Tx, key: LeakKey, name: Name, row: Record, added: Sequence[int], removed: Sequence[int]
) -> None:
    """`row`: the column as it is held. All of it when the lock has nothing of this key yet, or too many events."""
    sequence: int = row["sequence"]
    whole = not row["complete"] or sequence - row["whole_sequence"] >= COMPACT
    if not (whole or added or removed):
        return
    parts = list(_parts(await store.marks_of(tx, row["number"]) if whole else added, () if whole else removed))
    for number, (came, went) in enumerate(parts):
        last = number == len(parts) - 1
        _stage(
            tx,
            key,
            row["column_id"],
            name.label,
            sequence + number + 1,
            whole=whole and not number,
            complete=last,
            marks=(came, went),
        )
    first = sequence + 1 if whole else row["whole_sequence"]
    await store.told(tx, row["number"], sequence + len(parts), first)


def tell_dropped(tx: Tx, key: LeakKey, name: Name, row: Record) -> None:
    """The column is gone, or is not internal any more."""
    _stage(tx, key, row["column_id"], name.label, row["sequence"] + 1, whole=True, dropped=True)


async def tell_list(tx: Tx, key: LeakKey) -> bool:
    """Whether the lock has, or gets, the list that there is; False while somebody else tells it. A list that grows old is told again; while
    columns were never looked at, it says that it is not complete."""
    if not await store.is_mine(tx, "list"):
        return False
    held, last, at = await store.columns(tx), await store.last_list(tx), now()
    complete = all(row["complete"] for row in held.values())
    listed = write_list({row["column_id"]: row["sequence"] for row in held.values() if row["complete"]})
    said = sha256(listed + bytes([complete]))
    if last is not None and (last["key_id"], last["said"]) == (key.key_id, said) and at - last["at"] < RENEW:
        return True
    sequence = (last["sequence"] if last else 0) + 1
    await store.listed(tx, key.key_id, sequence, said, at)
    _stage(
        tx,
        key,
        LIST,
        "the list of internal columns",
        sequence,
        whole=True,
        complete=complete,
        marks=(listed, b""),
        at=at,
    )
    return True


def _parts(added: Sequence[int], removed: Sequence[int]) -> Iterator[tuple[bytes, bytes]]:
    """At least one."""
    for number in range(max(1, -(-len(added) // PART), -(-len(removed) // PART_REMOVED))):
        came = added[number * PART : (number + 1) * PART]
        yield joined(came), joined(removed[number * PART_REMOVED : (number + 1) * PART_REMOVED])


def _stage(
    tx: Tx,
    key: LeakKey,
    column: UUID,
    label: str,
    sequence: int,
    *,
    whole: bool = False,
    complete: bool = True,
    dropped: bool = False,
    marks: tuple[bytes, bytes] = (b"", b""),
    at: datetime | None = None,
) -> None:
    added, removed = key.sealed(column, sequence, *marks)
    told = ColumnFingerprinted(
        column_id=column,
        label=label,
        key_id=key.key_id,
        sequence=sequence,
        whole=whole,
        complete=complete,
        dropped=dropped,
        added=added,
        removed=removed,
        at=at or now(),
        mac="0" * 64,
    )
    tx.stage(EVENT, told.model_copy(update={"mac": key.mac(told)}), key=f"column:{column}", version=sequence)
