"""Whoever gets at the database as its superuser can write what they like into the call audit; `schleuse audit verify` names the first bad entry (rule 17)."""

import json
import random
from collections.abc import Awaitable, Callable

import pytest

from schemas.text import canonical, sha256
from services.connectors.audit.domain import Head
from shared.signing import SigningKey
from shared.testing.servers import Servers
from tests.parts.witnesses import LENGTH, SIZES, Witnesses, chain, witnessed

Tampering = Callable[[Witnesses, random.Random], Awaitable[int]]
"""Does something to it; the number of the first bad entry."""
OTHER = SigningKey(b"another key of thirty-two bytes!")
FIELDS = (
    "asker",
    "on_behalf_of",
    "connector",
    "operation",
    "target",
    "status",
    "secret",
    "detail",
    "trace_id",
    "outcome",
    "at",
)
COLUMNS = ("asker", "on_behalf_of", "connector", "target", "outcome", "status", "trace_id", "words")


def edited(raw: bytes, rng: random.Random) -> bytes:
    """The entry with another word in one field."""
    fields = json.loads(raw)
    name = rng.choice(FIELDS)
    fields[name] = (
        "2026-01-01T00:00:00.000000Z" if name == "at" else f"{fields[name]}x" if name != "outcome" else "refused"
    )
    return canonical(fields)


async def rewrite(world: Witnesses, first: int, raw: bytes) -> list[tuple[int, str]]:
    """Entry `first` says something else, and all after it follow it: a whole chain again."""
    found, before = [], ""
    for entry in world.entries[first:]:
        if entry.seq > first:
            raw = canonical(json.loads(entry.bytes_) | {"previous": before})
        previous, before = json.loads(raw)["previous"], sha256(raw)
        await put(world, entry.seq, raw, before, previous)
        found.append((entry.seq, before))
    return found


async def put(world: Witnesses, seq: int, raw: bytes, hashed: str, previous: str) -> None:
    """With all its columns, so that nothing but the chain can tell."""
    sql = """UPDATE core.call_audit SET entry = $2, hash = $3, previous = $4, noted_at = (e ->> 'at')::timestamptz, asker = e ->> 'asker',
      on_behalf_of = e ->> 'on_behalf_of', connector = e ->> 'connector', target = e ->> 'target', outcome = e ->> 'outcome',
      status = e ->> 'status', trace_id = e ->> 'trace_id', words = concat_ws(chr(31), e ->> 'asker', e ->> 'on_behalf_of',
      e ->> 'connector', e ->> 'operation', e ->> 'target', e ->> 'outcome', e ->> 'status', e ->> 'secret', e ->> 'detail')
      FROM (SELECT convert_from($2, 'UTF8')::jsonb AS e) made WHERE seq = $1"""
    await world.raw("connectors").execute(sql, seq, raw, hashed, previous)


async def edit_the_bytes(world: Witnesses, rng: random.Random) -> int:
    at = rng.randrange(LENGTH)
    raw = edited(world.entries[at].bytes_, rng)
    await world.raw("connectors").execute("UPDATE core.call_audit SET entry = $2 WHERE seq = $1", at, raw)
    return at


async def edit_with_its_hash(world: Witnesses, rng: random.Random) -> int:
    at = rng.randrange(LENGTH)
    raw = edited(world.entries[at].bytes_, rng)
    await put(world, at, raw, sha256(raw), world.entries[at].previous)
    return at


async def rewrite_what_follows(world: Witnesses, rng: random.Random) -> int:
    at = rng.randrange(LENGTH)
    await rewrite(world, at, edited(world.entries[at].bytes_, rng))
    return at


async def rewrite_and_sign_again(world: Witnesses, rng: random.Random) -> int:
    """By somebody who has the connectors' key, too."""
    at = rng.randrange(SIZES[-1])
    hashes = dict(await rewrite(world, at, edited(world.entries[at].bytes_, rng)))
    for size in SIZES:
        if size - 1 in hashes:
            await resign(world, size, hashes[size - 1])
    return at


async def resign(world: Witnesses, size: int, root: str, key: SigningKey | None = None) -> None:
    raw, signed = world.raw("connectors"), world.checkpoint(size, root)
    signature = signed.signature if key is None else key.sign_bytes("schleuse.checkpoint.v1", signed.payload)
    await raw.execute(
        "DELETE FROM core.witnesses w USING core.checkpoints c WHERE c.statement_hash = w.checkpoint_hash AND size = $1",
        size,
    )
    await raw.execute("UPDATE core.checkpoints SET root = $2, statement = $3, signature = $4, statement_hash = $5 WHERE size = $1", size, root, signed.payload, signature, signed.hash)  # fmt: skip


async def edit_a_column(world: Witnesses, rng: random.Random) -> int:
    at, name = rng.randrange(LENGTH), rng.choice(COLUMNS)
    await world.raw("connectors").execute(f"UPDATE core.call_audit SET {name} = {name} || 'x' WHERE seq = $1", at)
    return at


async def move_in_time(world: Witnesses, rng: random.Random) -> int:
    at = rng.randrange(LENGTH)
    await world.raw("connectors").execute(
        "UPDATE core.call_audit SET noted_at = noted_at - interval '1 microsecond' WHERE seq = $1", at
    )
    return at


async def delete_one(world: Witnesses, rng: random.Random) -> int:
    at = rng.randrange(LENGTH)
    await world.raw("connectors").execute("DELETE FROM core.call_audit WHERE seq = $1", at)
    return at


async def delete_one_and_close_the_gap(world: Witnesses, rng: random.Random) -> int:
    at = rng.randrange(LENGTH - 1)
    raw = world.raw("connectors")
    await raw.execute("DELETE FROM core.call_audit WHERE seq = $1", at)
    await raw.execute("UPDATE core.call_audit SET seq = seq - 1 WHERE seq > $1", at)
    return at


async def swap_two(world: Witnesses, rng: random.Random) -> int:
    one, other = sorted(rng.sample(range(LENGTH), 2))
    await world.raw("connectors").execute(
        "UPDATE core.call_audit SET seq = $1 + $2 - seq WHERE seq IN ($1, $2)", one, other
    )
    return one


async def swap_two_and_rewrite(world: Witnesses, rng: random.Random) -> int:
    one, other = sorted(rng.sample(range(LENGTH), 2))
    swapped = list(world.entries)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    before = world.entries[one].previous
    for seq in range(one, LENGTH):
        raw = canonical(json.loads(swapped[seq].bytes_) | {"previous": before, "seq": seq})
        await put(world, seq, raw, sha256(raw), before)
        await world.raw("connectors").execute("UPDATE core.call_audit SET entry_id = $2, call_id = $3 WHERE seq = $1", seq, swapped[seq].entry_id, json.loads(raw)["call_id"])  # fmt: skip
        before = sha256(raw)
    return one


async def insert_a_twin(world: Witnesses, rng: random.Random) -> int:
    at = rng.randrange(LENGTH - 1)
    await world.raw("connectors").execute(
        "INSERT INTO core.call_audit SELECT * FROM core.call_audit WHERE seq = $1", at
    )
    return at + 1


async def cut_the_tail(world: Witnesses, rng: random.Random) -> int:
    at = rng.randrange(LENGTH)
    await world.raw("connectors").execute("DELETE FROM core.call_audit WHERE seq >= $1", at)
    return at


async def restore_an_old_backup(world: Witnesses, rng: random.Random) -> int:
    """Entries and checkpoints as they were once, and everybody else as now."""
    at = rng.randrange(LENGTH)
    raw = world.raw("connectors")
    await raw.execute("DELETE FROM core.call_audit WHERE seq >= $1", at)
    await raw.execute(
        "DELETE FROM core.witnesses w USING core.checkpoints c WHERE c.statement_hash = w.checkpoint_hash AND c.size > $1",
        at,
    )
    await raw.execute("DELETE FROM core.checkpoints WHERE size > $1", at)
    return at


async def restore_and_go_on(world: Witnesses, rng: random.Random) -> int:
    """And then new entries took the numbers of the lost ones, with a checkpoint of their own."""
    at = await restore_an_old_backup(world, rng)
    head = Head(at - 1, world.entries[at - 1].hash) if at else Head()
    made = chain(rng.randrange(1, 40), head, "after")
    for each in made:
        await world.raw("connectors").execute("INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous) VALUES ($1, $2, $3, $4, $5)", each.seq, each.entry_id, each.bytes_, each.hash, each.previous)  # fmt: skip
        await put(world, each.seq, each.bytes_, each.hash, each.previous)
        await world.raw("connectors").execute("UPDATE core.call_audit SET call_id = $2 WHERE seq = $1", each.seq, json.loads(each.bytes_)["call_id"])  # fmt: skip
    return at


async def replace_a_checkpoint(world: Witnesses, rng: random.Random) -> int:
    size = rng.choice(SIZES)
    await resign(world, size, sha256(b"something else"))
    return size - 1


async def sign_a_checkpoint_with_another_key(world: Witnesses, rng: random.Random) -> int:
    size = rng.choice(SIZES)
    await resign(world, size, world.entries[size - 1].hash, OTHER)
    return size - 1


async def sign_a_checkpoint_anew(world: Witnesses, rng: random.Random) -> int:
    """The same root, another time: still not what the lock countersigned."""
    size = rng.choice(SIZES)
    await resign(world, size, world.entries[size - 1].hash)
    return size - 1


async def delete_a_checkpoint(world: Witnesses, rng: random.Random) -> int:
    size = rng.choice(SIZES)
    await world.raw("connectors").execute("DELETE FROM core.checkpoints WHERE size = $1", size)
    return size - 1


async def forge_a_witness(world: Witnesses, rng: random.Random) -> int:
    size = rng.choice(SIZES)
    sql = "UPDATE core.witnesses w SET signature = $2 FROM core.checkpoints c WHERE c.statement_hash = w.checkpoint_hash AND c.size = $1"
    await world.raw("connectors").execute(sql, size, OTHER.sign_bytes("schleuse.witness.v1", b"x"))
    return size - 1


async def edit_what_the_lock_kept(world: Witnesses, rng: random.Random) -> int:
    size = rng.choice(SIZES)
    await world.raw("bridge").execute("UPDATE core.audit_checkpoints SET root = repeat('a', 64) WHERE size = $1", size)
    return size - 1


async def edit_a_crossing(world: Witnesses, rng: random.Random) -> int:
    at = rng.randrange(LENGTH)
    await world.raw("bridge").execute("UPDATE core.crossings SET signature_hash = repeat('a', 64) WHERE type = 'call.audited' AND keyversion = $1", at)  # fmt: skip
    return at


async def edit_the_consoles_copy(world: Witnesses, rng: random.Random) -> int:
    at, name = rng.randrange(LENGTH), rng.choice(("status", "target", "asker", "secret", "detail"))
    await world.raw("console").execute(f"UPDATE app.calls SET {name} = {name} || 'x' WHERE seq = $1", at)
    return at


async def delete_from_the_consoles_copy(world: Witnesses, rng: random.Random) -> int:
    at = rng.randrange(LENGTH - 1)
    await world.raw("console").execute("DELETE FROM app.calls WHERE seq = $1", at)
    return at


async def spell_it_otherwise(world: Witnesses, rng: random.Random) -> int:
    """The same values in other bytes: a space, or a key that stands twice."""
    at = rng.randrange(LENGTH)
    old = world.entries[at].bytes_
    raw = rng.choice((old.replace(b",", b", ", 1), old.replace(b"{", b'{"asker":"agent",', 1)))
    await put(world, at, raw, sha256(raw), world.entries[at].previous)
    return at


TAMPERINGS: tuple[Tampering, ...] = (
    edit_the_bytes, edit_with_its_hash, rewrite_what_follows, rewrite_and_sign_again, edit_a_column, move_in_time, delete_one,
    delete_one_and_close_the_gap, swap_two, swap_two_and_rewrite, insert_a_twin, cut_the_tail, restore_an_old_backup, restore_and_go_on,
    replace_a_checkpoint, sign_a_checkpoint_with_another_key, sign_a_checkpoint_anew, delete_a_checkpoint, forge_a_witness,
    edit_what_the_lock_kept, edit_a_crossing, edit_the_consoles_copy, delete_from_the_consoles_copy, spell_it_otherwise,
)  # fmt: skip


async def tamper_and_verify(world: Witnesses, tampering: Tampering, seed: int) -> str:
    """What is wrong with what was found, or an empty text."""
    begun = [world.raw(service).transaction() for service in world.held]
    for each in begun:
        await each.start()
    try:
        expected = await tampering(world, random.Random(seed))
        found = await world.verify()
    finally:
        for each in begun:
            await each.rollback()
    right = not found["ok"] and found["first_bad"] == expected and found["reason"]
    return (
        ""
        if right
        else f"{tampering.__name__} ({seed}): expected {expected}, found {found['first_bad']}: {found['reason']}"
    )


async def campaign(servers: Servers, count: int) -> None:
    async with witnessed(servers) as world:
        clean = await world.verify()
        assert clean["ok"], clean
        assert (clean["entries"], clean["first_bad"], clean["places"]["connectors"]["witnessed"]) == (LENGTH, None, 3)
        wrong = [await tamper_and_verify(world, TAMPERINGS[at % len(TAMPERINGS)], at) for at in range(count)]
        assert [each for each in wrong if each] == []
        assert (await world.verify())["ok"], "nothing of it stayed"


async def test_every_kind_of_tampering_is_found_and_the_first_bad_entry_named(servers: Servers) -> None:
    await campaign(servers, len(TAMPERINGS))


@pytest.mark.long
async def test_a_thousand_random_tamperings_are_found(servers: Servers) -> None:
    await campaign(servers, 1000)
