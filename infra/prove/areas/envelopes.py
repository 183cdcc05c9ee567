"""Envelopes on to.* published with the bridge's real bus account, without its seal or with a wrong one: readers park them (S9)."""

from infra.prove.check import Book
from infra.prove.forge import Forger
from infra.prove.target import Attempt, Target
from infra.prove.traces import fates
from schemas.bridge.v1 import HeadSealed, ItemRetracted
from shared.outbox.seal import Sealer

SECONDS = 25.0
NAMES = {"site": ("item.retracted", "head.sealed"), "console": ("item.moved", "call.audited")}


async def check_envelopes(target: Target, book: Book) -> None:
    forger = Forger.of(target)
    for reader, names in NAMES.items():
        bodies = [_body(forger, name, reader) for name in names]
        seals = await _seals(target, forger, reader, names, bodies)
        made = [
            (f"{name}: {says}", f"e{reader}{number}", _send(reader, name, body, seal))
            for number, (says, name, body, seal) in enumerate(seals)
        ]
        for _, mark, attempt in made:
            attempt["payload"] = (
                attempt["payload"].replace(":MARK:", f":{mark}:")
                if ":MARK:" in attempt["payload"]
                else attempt["payload"]
            )
        await target.run("bridge", [attempt for _, _, attempt in made])
        found = await fates(target, reader, [mark for _, mark, _ in made], SECONDS)
        for says, mark, _ in made:
            fate, reason = found.get(mark, ("no trace", ""))
            book.add(
                "bridge",
                f"to.{reader}.{says}",
                "parked",
                fate if "seal" in reason or "envelope" in reason else f"{fate} for another reason",
                reason,
            )


def _body(forger: Forger, name: str, reader: str) -> str:
    """A readable event; what counts here is only who vouches for it."""
    signed = forger.by_stranger(forger.withdrawal())
    data = (
        HeadSealed(head=signed)
        if name == "head.sealed"
        else ItemRetracted(item_id=forger.item, withdrawal=signed, gate=signed)
    )
    return forger.event("head.sealed" if name == "head.sealed" else "item.retracted", data, "MARK").replace(
        "io.schleuse.item.retracted", f"io.schleuse.{name}"
    )


async def _seals(
    target: Target, forger: Forger, reader: str, names: tuple[str, ...], bodies: list[str]
) -> list[tuple[str, str, str, str]]:
    """(what, event, body, seal) of each forgery. A seal is bound to its body, so those that need a right body carry their mark already."""
    found = []
    for number, (name, body) in enumerate(zip(names, bodies, strict=True)):
        subject, at = f"to.{reader}.{name}", number * 6
        marked = [body.replace(":MARK:", f":e{reader}{at + each}:") for each in range(6)]
        other_subject, by_gate = await _by_bridge(target, marked[3], marked[4], subject)
        found += [
            ("no seal", name, marked[0], ""),
            ("no seal at all, only its words", name, marked[1], "1 0000000000000000 AAAA 0 1 "),
            ("a stranger's seal", name, marked[2], Sealer(forger.stranger).seal([(subject, marked[2].encode())])[0]),
            ("the bridge's seal for another subject", name, marked[3], other_subject),
            ("sealed with the gate's key", name, marked[4], by_gate),
            ("the bridge's seal for another body", name, marked[5], other_subject),
        ]
    return found


async def _by_bridge(target: Target, elsewhere: str, by_gate: str, subject: str) -> tuple[str, str]:
    made: list[Attempt] = [
        {"kind": "keys", "as": "bridge", "op": "seal", "subject": "to.agent.item.moved", "body": elsewhere},
        {"kind": "keys", "as": "bridge", "op": "seal", "duty": "gate", "subject": subject, "body": by_gate},
    ]
    first, second = await target.run("bridge", made)
    return first["value"], second["value"]


def _send(reader: str, name: str, body: str, seal: str) -> Attempt:
    headers = {"Schleuse-Seal": seal} if seal else None
    return {
        "kind": "bus",
        "as": "bridge",
        "op": "ask",
        "subjects": [f"to.{reader}.{name}"],
        "payload": body,
        "headers": headers,
    }
