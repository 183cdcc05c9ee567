"""Pure parts of the call path: rates, delegations, and what runs."""

import asyncio
import secrets
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

import pytest

from schemas.agency import ActionDecision
from schemas.outward import Card, Delegation, Owner
from schemas.statements import Signed
from services.connectors.audit.log import AuditLog, Note
from services.connectors.book.domain import Book, Decided
from services.connectors.calls.delegations import check_card, check_operation, check_still, read_delegation
from services.connectors.calls.rates import Rates
from services.connectors.calls.refusals import Refusals
from services.connectors.calls.running import MOST_RUNNING, Call, Running
from shared.asking.wire import GONE_AFTER, MAX_BODY, Cancel, More, Send
from shared.bus.asks import AnswerLine
from shared.clock import now
from shared.errors import Conflict, Forbidden, TooLarge, TooMany, Transient
from shared.ids import fresh_id
from shared.signing import PublicKeys, SigningKey, key_id_of

KEY = SigningKey(secrets.token_bytes(32))
KEYS = PublicKeys({})
KEYS.add("identity", key_id_of(KEY.public), KEY.public)
OWNER = Owner(kind="user", id="7")


def delegated(**more: Any) -> Signed:
    at = now()
    said: dict[str, Any] = {
        "key_id": KEY.key_id, "delegation_id": fresh_id(), "owner": OWNER, "audience": "agent", "operations": ("there.get",),
        "issued_at": at, "expires_at": at + timedelta(minutes=10),
    }  # fmt: skip
    return KEY.sign(Delegation(**(said | more)))


def refused(signed: Signed, book: Book | None = None, instruction: str | None = None) -> str:
    with pytest.raises(Forbidden) as found:
        read_delegation(signed, KEYS, book or Book(), "agent", instruction, now())
    assert found.value.code == "delegation"
    return found.value.message


def test_a_delegation_names_its_owner_to_its_audience_alone_and_in_its_time() -> None:
    found = read_delegation(delegated(), KEYS, Book(), "agent", None, now())
    assert found is not None and found.owner == OWNER
    assert read_delegation(None, KEYS, Book(), "agent", None, now()) is None
    at = now()
    assert "issued to site" in refused(delegated(audience="site"))
    assert "expired" in refused(delegated(issued_at=at - timedelta(hours=1), expires_at=at))
    assert "not valid yet" in refused(delegated(issued_at=at + timedelta(minutes=1)))
    assert "24 hours" in refused(delegated(expires_at=at + timedelta(hours=25)))


def test_a_delegation_is_for_its_operations_exactly() -> None:
    found = read_delegation(delegated(), KEYS, Book(), "agent", None, now())
    check_operation(found, "there.get")
    for other in ("there.post", "there.ge", "elsewhere.get", "there.get "):
        with pytest.raises(Forbidden):
            check_operation(found, other)


def test_a_changed_or_foreign_signature_delegates_nothing() -> None:
    good = delegated()
    other = delegated(owner=Owner(kind="user", id="8"))
    refused(good.model_copy(update={"payload": other.payload}))
    refused(good.model_copy(update={"key_id": "0" * 16}))


def test_an_automations_delegation_holds_as_long_as_its_card_and_for_its_instruction_only() -> None:
    at, digest = now(), "a" * 64
    card = Card(
        card_id=fresh_id(), subject="use", asker="agent", connector="there", kind="http", requested_at=at, expires_at=at + timedelta(days=7)
    )  # fmt: skip
    book = Book()
    signed = delegated(card_id=card.card_id, instruction_hash=digest, expires_at=at + timedelta(days=30))
    assert "not allowed" in refused(signed, book, digest), "there is no such card"
    book.cards[card.card_id] = Decided(card, "allow", at)
    found = read_delegation(signed, KEYS, book, "agent", digest, now())
    check_still(found, book, now())
    with pytest.raises(Forbidden, match="expired"):
        check_still(found, book, at + timedelta(days=31))
    assert "another instruction" in refused(signed, book, "b" * 64)
    assert "another instruction" in refused(signed, book)
    book.cards[card.card_id] = Decided(card, "revoke", at)
    assert "not allowed" in refused(signed, book, digest)
    with pytest.raises(Forbidden, match="not allowed"):
        check_card(found, book, now())


def test_a_card_of_the_agent_holds_as_a_person_decided_once_and_took_it_back() -> None:
    book, card_id, digest = Book(), fresh_id(), "a" * 64
    signed = delegated(card_id=card_id, instruction_hash=digest)

    def decide(verdict: Any) -> None:
        said = ActionDecision(key_id="k", card_id=card_id, card_hash="1" * 64, verdict=verdict, decided_at=now(), decider="0" * 64)  # fmt: skip
        book.check_action(said)
        book.enter_action(said)

    assert "not allowed" in refused(signed, book, digest)
    with pytest.raises(Conflict):
        decide("revoke")
    decide("allow")
    assert read_delegation(signed, KEYS, book.copy(), "agent", digest, now()) is not None
    assert "another instruction" in refused(signed, book, "b" * 64)
    for again in ("allow", "refuse"):
        with pytest.raises(Conflict):
            decide(again)
    decide("revoke")
    assert "not allowed" in refused(signed, book, digest)
    for again in ("allow", "revoke"):
        with pytest.raises(Conflict):
            decide(again)


def test_rates_are_counted_by_asker_and_connector_over_a_minute() -> None:
    rates = Rates()
    for second in range(3):
        rates.admit("agent", "there", 3, float(second))
    with pytest.raises(TooMany, match=r"3 calls a minute through there; the next may go in 57 s"):
        rates.admit("agent", "there", 3, 3.0)
    rates.admit("site", "there", 3, 3.0)
    rates.admit("agent", "elsewhere", 3, 3.0)
    rates.admit("agent", "there", 3, 60.5)


def test_two_instances_share_what_a_minute_has_room_for() -> None:
    rates = Rates(share=2)
    rates.admit("agent", "there", 3, 0.0)
    rates.admit("agent", "there", 3, 0.0)
    with pytest.raises(TooMany):
        rates.admit("agent", "there", 3, 0.0)


class _Line:
    """Takes every frame."""

    async def say(self, reply: str, frame: bytes) -> None: ...


def a_call(asker: Any = "agent", ask_id: UUID | None = None) -> Call:
    return Call(asker, ask_id or fresh_id(), fresh_id(), "reply", cast(AnswerLine, _Line()), 0.0)


async def test_a_word_of_one_asker_is_nothing_to_anothers_call() -> None:
    running, call = Running(), a_call()
    running.add(call)
    call.task = asyncio.ensure_future(asyncio.sleep(10))
    running.cancel("site", Cancel(ask_id=call.ask_id, call_id=call.call_id))
    running.more("site", More(taken={call.ask_id: 5}), 9.0)
    assert call.reason is None and call.heard_at == 0.0
    running.cancel("agent", Cancel(call_id=call.call_id))
    assert call.reason is not None and call.reason.code == "cancelled"


async def test_a_cancel_that_overtakes_its_ask_is_not_forgotten() -> None:
    running, ask_id = Running(), fresh_id()
    running.cancel("agent", Cancel(ask_id=ask_id))
    other, call = a_call("site", ask_id), a_call("agent", ask_id)
    running.add(other)
    running.add(call)
    assert other.reason is None and call.reason is not None


async def test_an_asker_has_so_many_calls_at_once_and_each_its_own_word() -> None:
    running = Running()
    calls = [a_call() for _ in range(MOST_RUNNING)]
    for each in calls:
        running.add(each)
    with pytest.raises(Conflict):
        running.add(a_call(ask_id=calls[0].ask_id))
    with pytest.raises(Transient) as found:
        running.add(a_call())
    assert found.value.code == "busy"
    running.add(a_call("site"))
    running.remove(calls[0])
    running.add(a_call())


async def test_calls_that_nobody_speaks_for_are_ended() -> None:
    running, call = Running(), a_call()
    running.add(call)
    call.task = asyncio.ensure_future(asyncio.sleep(10))
    running.cut_silent(GONE_AFTER)
    assert call.reason is None
    running.cut_silent(GONE_AFTER + 1)
    assert call.reason is not None and call.reason.code == "asker_gone"


async def test_a_body_that_skips_a_piece_or_is_too_long_is_refused() -> None:
    call = a_call()
    call.arrived(b"first", True)
    assert await call.take() == (b"first", True)
    call.piece(Send(ask_id=call.ask_id, number=2, last=False), b"the second before the first")
    with pytest.raises(Transient):
        await call.take()
    long = a_call()
    long.arrived(b"x" * MAX_BODY, True)
    await long.take()
    long.piece(Send(ask_id=long.ask_id, number=1, last=True), b"x")
    with pytest.raises(TooLarge):
        await long.take()


class _Written:
    """An audit that takes every note."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    async def append(self, *notes: Note) -> None:
        self.notes += notes


async def test_refusals_without_end_are_written_in_turn_and_then_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AT_ONCE": 3, "EVERY": 0.02, "MOST_WAITING": 2}.items():
        monkeypatch.setattr(f"services.connectors.calls.refusals.{name}", value)
    audit = _Written()
    refusals = Refusals(cast(AuditLog, audit))

    async def refused(asker: str) -> None:
        await refusals.write(Note(fresh_id(), asker, "get", "refused", status="connector_unknown"))

    for _ in range(3):
        await refused("site")
    await asyncio.gather(*(refused("site") for _ in range(10)), refused("agent"))
    told = [note.detail for note in audit.notes if note.asker == "site"]
    assert len(told) == 5 and sum("8 more refusals" in each for each in told) == 1
    assert len(audit.notes) == 6, "another asker waits for nobody"


async def test_bodies_that_are_kept_have_room_for_so_much_of_one_asker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.connectors.calls.running.MOST_HELD", 100)
    running, first, second = Running(), a_call(), a_call()
    for call in (first, second):
        call.arrived(b"x" * 40, more=True)
        call.task = asyncio.ensure_future(asyncio.sleep(60))
        running.add(call)
    running.piece("agent", Send(ask_id=first.ask_id, number=1, last=False), b"x" * 10)
    running.piece("agent", Send(ask_id=second.ask_id, number=1, last=False), b"x" * 20)
    assert first.reason is None and second.reason is not None and second.reason.code == "busy"
    for call in (first, second):
        assert call.task is not None
        call.task.cancel()
