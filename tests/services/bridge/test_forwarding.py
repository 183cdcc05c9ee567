"""What the lock lets through unchanged, what it parks, and how it answers the site's questions."""

import base64
import json
from typing import Any

from schemas.connectors.v1 import CallAudited
from schemas.site.v1 import GateRequested, SignalsRecorded
from schemas.statements import GateHead
from services.bridge.usecases.answer_gate_request import answer_gate_request, note_gate_request
from services.bridge.usecases.forward_event import forward_events
from services.bridge.usecases.record_parked import record_parked
from services.bridge.usecases.seal_head import seal_head
from shared.bus import Received
from shared.clock import now
from shared.ids import new_id
from tests.services.bridge.conftest import Lock, names, received
from tests.services.bridge.makes import revision


def signal(**changed: Any) -> dict[str, Any]:
    found = {
        "signal_id": str(new_id()),
        "kind": "view",
        "path": "/doc/en/lock",
        "visitor": "0" * 16,
        "at": now().isoformat(),
    }
    return found | changed


def batch(*signals: dict[str, Any]) -> Received[Any]:
    data = SignalsRecorded(batch_id=new_id(), signals=list(signals))
    return received("signals.recorded", data, "site", key=str(new_id()))


async def forward(lock: Lock, *events: Received[Any]) -> list[dict[str, Any]]:
    return await lock.run(forward_events, events)


async def test_good_signals_pass_byte_for_byte(lock: Lock) -> None:
    events = [batch(signal(), signal(kind="vote", value=1)), batch(signal(kind="feedback", text="Grüße 🚢"))]
    told = await forward(lock, *events)
    bodies = await lock.rows(
        "SELECT body FROM app.outbox WHERE event_id = ANY($1)", [event.event_id for event in events]
    )
    assert names(told) == ["signals.recorded>console"] * 2
    assert {row["body"] for row in bodies} == {event.raw for event in events}


async def test_a_bad_signal_is_parked_with_its_reason_and_the_others_pass(lock: Lock) -> None:
    good = signal()
    bad = [signal(kind="hack"), signal(extra="x"), signal(text="\ud800"), signal(value=7), signal(**{"a\x00b": 1})]
    event = batch(*bad[:3], good, *bad[3:])
    told = await forward(lock, event)
    assert [each["signal_id"] for each in told[0]["data"]["signals"]] == [good["signal_id"]]
    assert (told[0]["envelope"]["id"], told[0]["envelope"]["key"]) == (str(event.event_id), event.envelope.key)
    rows = await lock.rows("SELECT part, reason FROM app.parked WHERE event_id = $1 ORDER BY id", event.event_id)
    assert [json.loads(row["part"])["signal_id"] for row in rows] == [each["signal_id"] for each in bad]
    assert all("does not fit" in row["reason"] for row in rows)
    crossing = await lock.rows("SELECT verdict, reason FROM core.crossings WHERE event_id = $1", event.event_id)
    assert [tuple(row) for row in crossing] == [("delivered", "5 of 6 signals parked")]


async def test_a_batch_of_only_bad_signals_goes_nowhere(lock: Lock) -> None:
    event = batch(signal(visitor="203.0.113.9"))
    assert await forward(lock, event) == []
    crossing = await lock.rows("SELECT verdict FROM core.crossings WHERE event_id = $1", event.event_id)
    assert [row["verdict"] for row in crossing] == ["parked"]


async def test_a_batch_above_256_kib_is_parked_whole(lock: Lock) -> None:
    event = batch(*(signal(kind="feedback", text="ü" * 4000) for _ in range(60)))
    assert await forward(lock, event) == []
    rows = await lock.rows("SELECT reason FROM app.parked WHERE event_id = $1", event.event_id)
    assert "256 KiB" in rows[0]["reason"]


async def test_the_call_audit_reaches_the_console(lock: Lock) -> None:
    fact = CallAudited(
        entry_id=new_id(), seq=1, at=now(), asker="agent", connector="c", operation="o", target="t", outcome="ok"
    )
    assert names(await forward(lock, received("call.audited", fact, "connectors", key=str(new_id())))) == [
        "call.audited>console"
    ]


async def test_a_blocked_way_lets_nothing_through(lock: Lock) -> None:
    sql = "INSERT INTO core.policies (sender, receiver, type, version, policy, set_by, reason) VALUES ('site', 'console', 'signals.recorded', $1, $2, 't', '')"
    newest = await lock.rows(
        "SELECT max(version) AS v FROM core.policies WHERE sender = 'site' AND type = 'signals.recorded'"
    )
    async with lock.db.transaction() as tx:
        await tx.raw.execute(sql, newest[0]["v"] + 1, "block")
    event = batch(signal())
    try:
        assert await forward(lock, event) == []
    finally:
        async with lock.db.transaction() as tx:
            await tx.raw.execute(sql, newest[0]["v"] + 2, "deliver")
    crossing = await lock.rows("SELECT verdict FROM core.crossings WHERE event_id = $1", event.event_id)
    assert [row["verdict"] for row in crossing] == ["blocked"]


async def test_the_site_gets_the_entries_it_misses_in_order_and_then_a_head_with_its_nonce(lock: Lock) -> None:
    for _ in range(3):
        of = revision()
        await lock.submit(of)
        await lock.decide(of, "approve", prior=1)
    head = (await lock.rows("SELECT max(seq) AS seq FROM core.gate_log"))[0]["seq"]
    event = received("gate.requested", GateRequested(after_seq=head - 3, nonce="n-1"), "site")
    await lock.run(note_gate_request, event)
    told = await lock.run(answer_gate_request, lock.gate)
    assert [each["envelope"]["keyversion"] for each in told[:-1]] == [head - 2, head - 1, head]
    assert told[-1]["name"] == "head.sealed"
    sealed = GateHead.from_bytes(_payload(told[-1]["data"]["head"]["payload"]))
    assert isinstance(sealed, GateHead)
    assert (sealed.seq, sealed.nonce) == (head, "n-1")
    assert await lock.run(answer_gate_request, lock.gate) == [], "answered once"


async def test_a_long_answer_comes_in_bounded_steps(lock: Lock, monkeypatch: Any) -> None:
    monkeypatch.setattr("services.bridge.usecases.answer_gate_request.BATCH", 2)
    for _ in range(3):
        of = revision()
        await lock.submit(of)
        await lock.decide(of, "approve", prior=1)
    head = (await lock.rows("SELECT max(seq) AS seq FROM core.gate_log"))[0]["seq"]
    await lock.run(
        note_gate_request, received("gate.requested", GateRequested(after_seq=head - 3, nonce="n-2"), "site")
    )
    first = await lock.run(answer_gate_request, lock.gate)
    second = await lock.run(answer_gate_request, lock.gate)
    assert [each["envelope"]["keyversion"] for each in first] == [head - 2, head - 1]
    assert names(second)[-1] == "head.sealed>site"


async def test_the_heartbeat_seals_the_head(lock: Lock) -> None:
    assert names(await lock.run(seal_head, lock.gate)) == ["head.sealed>site"]


def _payload(text: str) -> bytes:
    return base64.b64decode(text)


async def test_a_replay_is_recorded_beside_the_first_try(lock: Lock) -> None:
    event = batch(signal(kind="hack"))
    await forward(lock, event)
    await forward(lock, event)
    rows = await lock.rows("SELECT verdict FROM core.crossings WHERE event_id = $1", event.event_id)
    assert [row["verdict"] for row in rows] == ["parked"]


async def test_an_event_that_could_not_be_handled_is_a_crossing_too(lock: Lock) -> None:
    event = batch(signal())
    await lock.run(record_parked, event, "eight attempts failed")
    crossing = await lock.rows(
        "SELECT verdict, reason, receiver FROM core.crossings WHERE event_id = $1", event.event_id
    )
    assert [tuple(row) for row in crossing] == [("parked", "eight attempts failed", "console")]
