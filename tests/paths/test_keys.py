"""S6: decision keys are rotated and revoked while everything runs; what they published stays, what they sign later does not count."""

import asyncio
import json
import secrets
from typing import Any
from uuid import uuid4

import pytest

from schemas.bridge.v1 import ItemPublished
from schemas.content import ItemContent
from schemas.statements import Decision, GateEntry, Opening
from schemas.text import sha256
from shared.clock import now
from shared.errors import Conflict, NotFound
from shared.ids import item_id
from shared.outbox.seal import Sealer
from shared.signing import SigningKey
from tests.factories import events
from tests.factories.bus import connect, publish
from tests.factories.documents import Item, decide, listed, submit
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


def document(stack: Stack) -> Item:
    return submit(stack, f"# keys {uuid4().hex[:8]}\n\nText.\n")


def published(stack: Stack, visitor: Visitor) -> Item:
    item = document(stack)
    assert decide(stack, item)["decided"] == 1
    until(lambda: visitor.sees(item), 5)
    return item


def signer_of(visitor: Visitor, item: Item) -> str:
    return str(json.loads(visitor.get(f"/receipt/{item.item_id}.json").text)["decision_key_id"])


def key_file(stack: Stack, key_id: str) -> Any:
    return stack.layout.keys / "console" / f"decision-{key_id}.key"


def states(stack: Stack) -> dict[str, str]:
    return {each["key_id"]: each["state"] for each in stack.ask("console", "keys.list")["keys"]}


def send_decision(stack: Stack, item: Item, key: SigningKey) -> str:
    """An approval of the item's present revision, as the console would send it; the event's id."""
    row = listed(stack, item)
    opening = Opening(person_id="mallory", person_name="Mallory", via="console", reason="", nonce=secrets.token_hex(8))
    decision = Decision(
        key_id=key.key_id, item_id=row["item_id"], revision=row["revision"], content_hash=row["content_hash"], kind=item.kind, lang=item.lang, path=item.path,
        audience="public", verdict="approve", decided_at=now(), decider=opening.commitment, prior_version=row["version"],
    )  # fmt: skip
    statement = key.sign(decision).model_dump(mode="json")
    data = {"item_id": item.item_id, "statement": statement, "opening": opening.model_dump(mode="json")}
    event = events.envelope("console", "item.decided", data, key=item.item_id)
    publish(stack, "console", "from.console.item.decided", events.raw(event))
    return str(event["id"])


def publication(stack: Stack, path: str, key: SigningKey) -> bytes:
    """A publication behind the newest entry, with the gate's real signature; what remains false is the decision's key."""
    [head] = stack.rows("bridge", "SELECT seq, hash FROM core.gate_log ORDER BY seq DESC LIMIT 1")
    content = ItemContent(title="Forged", body="Forged.").to_bytes()
    decision = key.sign(
        Decision(
            key_id=key.key_id, item_id=item_id("page", "en", path), revision=1, content_hash=sha256(content), kind="page", lang="en", path=path,
            audience="public", verdict="approve", decided_at=now(), decider=sha256(b"nobody"), prior_version=1,
        )
    )  # fmt: skip
    gate = SigningKey.load(stack.layout.keys / "bridge" / "gate.key")
    entry = gate.sign(
        GateEntry(
            key_id=gate.key_id, seq=head["seq"] + 1, previous=head["hash"], entry="publication", item_id=item_id("page", "en", path),
            statement_hash=decision.hash, content_hash=sha256(content), at=now(),
        )
    )  # fmt: skip
    receipt = ItemPublished(item_id=item_id("page", "en", path), decision=decision, gate=entry, content=content)
    return events.raw(events.envelope("bridge", "item.published", receipt.model_dump(mode="json"), key="gate", version=head["seq"] + 1))  # fmt: skip


async def send_sealed(stack: Stack, subject: str, body: bytes) -> None:
    """As the bridge itself: with its account and its envelope key."""
    seal = Sealer(SigningKey.load(stack.layout.keys / "bridge" / "envelope.key")).seal([(subject, body)])[0]
    client = await connect(stack, "bridge")
    answer = await client.request(subject, body, timeout=60, headers={"Schleuse-Seal": seal})
    await client.close()
    assert b'"error"' not in answer.data, answer.data


def test_keys_are_rotated_and_revoked_while_everything_runs(stack: Stack, visitor: Visitor) -> None:
    first = stack.cli("keys", "list")["signing"]
    before = published(stack, visitor)
    assert signer_of(visitor, before) == first

    second = stack.cli("keys", "rotate", "--reason", "yearly")["signing"]
    assert states(stack)[first] == "retired"
    between = published(stack, visitor)
    assert signer_of(visitor, between) == second

    stolen = SigningKey.load(key_file(stack, second))
    third = stack.cli("keys", "rotate", "--revoke-old")
    assert third["old"] == {"key_id": second, "state": "revoked"}
    until(lambda: not key_file(stack, second).exists(), 5)
    assert all(visitor.sees(item) for item in (before, between)), "their places in the log are before the revocation"

    target = document(stack)
    event = send_decision(stack, target, stolen)
    [crossing] = until(
        lambda: stack.rows("bridge", f"SELECT verdict, reason FROM core.crossings WHERE event_id = '{event}'"), 10
    )
    assert crossing["verdict"] == "refused"
    assert crossing["reason"].startswith("revoked_key"), crossing
    assert listed(stack, target)["state"] == "submitted"
    assert decide(stack, target)["decided"] == 1
    until(lambda: visitor.sees(target), 5)
    assert signer_of(visitor, target) == third["signing"]


def test_the_site_itself_refuses_a_publication_by_a_revoked_key(stack: Stack, visitor: Visitor) -> None:
    """Also when the lock is in the attacker's hands: the gate's and the envelope's keys are real."""
    old = stack.ask("console", "keys.rotate")["signing"]
    stolen = SigningKey.load(key_file(stack, old))
    stack.ask("console", "keys.rotate", revoke_old=True)
    last = published(stack, visitor)
    path = f"forged-{uuid4().hex[:8]}"
    parked = {row["id"] for row in stack.ask("site", "parked.list")["parked"]}
    asyncio.run(send_sealed(stack, "to.site.item.published", publication(stack, path, stolen)))

    def fresh() -> list[dict[str, Any]]:
        return [row for row in stack.ask("site", "parked.list")["parked"] if row["id"] not in parked]

    [row] = until(fresh, 15)
    assert f"{old} was revoked" in row["reason"]
    assert visitor.get(f"/page/en/{path}").status_code == 404
    stack.ask("site", "parked.drop", id=row["id"])
    assert visitor.sees(last)
    published(stack, visitor)


def test_a_key_that_signs_is_not_revoked_and_a_revoked_one_not_again(stack: Stack) -> None:
    signing = stack.ask("console", "keys.list")["signing"]
    refused = stack.run("keys", "revoke", signing)
    assert refused.returncode == 2
    assert "rotate first" in refused.stderr
    stack.ask("console", "keys.rotate")
    assert stack.cli("keys", "revoke", signing, "--reason", "lost")["revoked"] == signing
    with pytest.raises(Conflict):
        stack.ask("console", "keys.revoke", key_id=signing)
    with pytest.raises(NotFound):
        stack.ask("console", "keys.revoke", key_id="0" * 16)
    recorded = stack.rows(
        "bridge",
        f"SELECT reason, via FROM core.decision_keys WHERE subject_key_id = '{signing}' AND action = 'revoked'",
    )
    assert recorded == [{"reason": "lost", "via": "operator"}]


def test_keys_outlive_restarts(stack: Stack, visitor: Visitor) -> None:
    stack.ask("console", "keys.rotate", revoke_old=True)
    item, known = published(stack, visitor), states(stack)
    killed = {part: stack.kill(part) for part in ("console", "bridge", "site")}
    for part, pid in killed.items():
        stack.back(part, pid)
    until(lambda: visitor.get(item.url).status_code == 200, 20)
    assert states(stack) == known
    assert stack.ask("bridge", "gate.verify")["ok"]
    later = published(stack, visitor)
    assert signer_of(visitor, later) == stack.ask("console", "keys.list")["signing"]
    assert stack.ask("console", "keys.rotate")["old"]["state"] == "retired"
