"""Forged decisions, withdrawals, switches and keys, published with the console's real bus account: the lock refuses or parks each (S1, S5)."""

from collections.abc import Sequence

from infra.prove.areas.forgeries import MARK, Forged, forged_decisions, forged_envelopes, replayed_decisions
from infra.prove.check import Book
from infra.prove.forge import Forger
from infra.prove.target import Attempt, Target
from infra.prove.traces import fates
from shared.settings import DATABASES

SECONDS = 25.0


async def check_decisions(target: Target, book: Book) -> None:
    forger = Forger.of(target)
    forged = [
        *await forged_decisions(target, forger),
        *await replayed_decisions(target, forger),
        *forged_envelopes(forger),
    ]
    await try_forged(target, book, forged, "d")
    await _nothing_changed(target, book, forger)


async def try_forged(
    target: Target, book: Book, forged: Sequence[Forged], letter: str, service: str = "console"
) -> None:
    """Publish each with that service's real account, and ask the lock's records what became of it. `letter` tells areas apart."""
    marks = [f"{letter}{number}" for number in range(len(forged))]
    made: list[Attempt] = [
        {"kind": "bus", "as": service, "op": "ask", "subjects": [f"from.{service}.{each.name}"], "payload": each.body.replace(f":{MARK}:", f":{mark}:")}
        for mark, each in zip(marks, forged, strict=True)
    ]  # fmt: skip
    await target.run(service, made)
    found = await fates(target, "bridge", marks, SECONDS)
    for mark, each in zip(marks, forged, strict=True):
        fate, reason = found.get(mark, ("no trace", ""))
        book.add(service, f"{each.name}: {each.says}", _expected(each), _got(each, fate, reason), reason)


def _expected(each: Forged) -> str:
    return "parked" if each.expected == "parked" else f"refused {each.expected}".strip()


def _got(each: Forged, fate: str, reason: str) -> str:
    code = reason.partition(":")[0] if each.expected and fate == "refused" else ""
    return f"{fate} {code}".strip()


_LEFT = """SELECT 'a decision' FROM core.decisions WHERE item_id = $1::uuid UNION ALL SELECT 'a gate entry' FROM core.gate_log WHERE item_id = $1::uuid
  UNION ALL SELECT 'a switch' FROM core.switch_settings WHERE nonce = $2 UNION ALL SELECT 'a key' FROM core.decision_keys WHERE nonce = $2
  UNION ALL SELECT 'an item' FROM app.items WHERE item_id = $1::uuid UNION ALL SELECT 'a decision' FROM core.decisions WHERE nonce = $2"""


async def _nothing_changed(target: Target, book: Book, forger: Forger) -> None:
    row: Attempt = {
        "kind": "rows",
        "role": "bridge",
        "database": DATABASES["bridge"],
        "query": _LEFT,
        "args": [str(forger.item), forger.token],
    }
    (outcome,) = await target.run("bridge", [row])
    book.holds(
        "bridge",
        "none of it is recorded as a decision, gate entry, switch, key or item",
        ", ".join(each[0] for each in outcome["value"]),
    )
