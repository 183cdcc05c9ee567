"""Cards and what people decide on them, on a real database: made once, waited for, verified, kept, told."""

import asyncio
import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from schemas.console.v1 import CardDecided, ConnectorDeclared
from schemas.outward import CardDecision, ConnectorSetting
from schemas.statements import Opening
from services.connectors.book.keeper import Keeper
from services.connectors.book.usecases.record_decision import record_decision
from services.connectors.book.usecases.record_setting import record_setting
from services.connectors.cards.desk import CardDesk
from services.connectors.cards.domain import LIFE
from services.connectors.cards.usecases.expire_cards import expire_cards
from services.connectors.kinds.registry import KINDS
from shared.clock import now
from shared.db.notices import Notices
from shared.errors import BadSignature, Refused, TooMany
from shared.ids import new_id
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers
from tests.factories.secrets import OPENING
from tests.services.connectors.conftest import Office

CONSOLE = "http://localhost:8420"


def desk_of(office: Office) -> CardDesk:
    return CardDesk(office.db, office.keeper, CONSOLE)


async def require(desk: CardDesk, connector: str, wait_s: float = 0.0, **changed: Any) -> None:
    fields: dict[str, Any] = {"asker": "agent", "owner": None, "kind": "http", "operation": "get"}
    fields |= {"hosts": ("api.example.com:443",), "places": (), "quoted": "need it", "call_id": new_id()}
    await desk.require(connector=connector, wait_s=wait_s, **(fields | changed))


async def pending_card(office: Office, desk: CardDesk, connector: str, **changed: Any) -> Any:
    with pytest.raises(Refused) as caught:
        await require(desk, connector, **changed)
    assert caught.value.code == "card_pending"
    await office.keeper.catch_up()
    return next(
        each.card
        for each in office.keeper.book.cards.values()
        if each.card.connector == connector and each.verdict is None
    )


def decision(office: Office, card: Any, verdict: str = "allow", opening: Opening = OPENING, **changed: Any) -> Any:
    said: dict[str, Any] = {"card_id": card.card_id, "card_hash": card.hash, "verdict": verdict, "decided_at": now()}
    signed = office.signed(CardDecision(**(said | {"key_id": "", "decider": opening.commitment} | changed)))
    return CardDecided(card_id=card.card_id, statement=signed, opening=opening)


async def answers(office: Office, data: CardDecided) -> list[tuple[str, Any]]:
    told = await office.take("card.decided", data, record_decision)
    names = [(each["type"].removeprefix("io.schleuse."), each["data"]) for each in told]
    return [each for each in names if each[0] != "call.audited"]


async def setting(office: Office, name: str, prior: int, **changed: Any) -> list[tuple[str, Any]]:
    said: dict[str, Any] = {"kind": "http", "enabled": True, "settings": '{"base":"https://api.example.com/v1"}'}
    said |= {"key_id": "", "name": name, "decided_at": now(), "decider": OPENING.commitment, "prior_version": prior}
    statement = ConnectorSetting(**(said | changed))
    data = ConnectorDeclared(statement=office.signed(statement), opening=OPENING)
    told = await office.take("connector.declared", data, record_setting)
    names = [(each["type"].removeprefix("io.schleuse."), each["data"]) for each in told]
    return [each for each in names if each[0] != "call.audited"]


def a_name() -> str:
    return f"c-{uuid4().hex[:10]}"


async def test_a_first_use_waits_on_one_card_whoever_asks_and_how_often(office: Office) -> None:
    desk, name = desk_of(office), a_name()
    card = await pending_card(office, desk, name)
    tries = await asyncio.gather(*(require(desk, name) for _ in range(5)), return_exceptions=True)
    assert all(isinstance(each, Refused) and f"{CONSOLE}/cards/{card.card_id}" in each.message for each in tries)
    rows = await office.rows("SELECT body FROM app.outbox WHERE name = 'card.requested' AND about = $1", f"card:{card.card_id}")  # fmt: skip
    assert [json.loads(row["body"])["data"]["card"]["connector"] for row in rows] == [name]
    assert sum(each.card.connector == name for each in office.keeper.book.cards.values()) == 1


async def test_who_waits_goes_on_when_a_person_allows_it(office: Office) -> None:
    desk, name = desk_of(office), a_name()
    waiting = asyncio.create_task(require(desk, name, wait_s=20))
    await office.keeper.catch_up()
    while not (cards := [each.card for each in office.keeper.book.cards.values() if each.card.connector == name]):
        await asyncio.sleep(0.01)
    [(answer, settled)] = await answers(office, decision(office, cards[0]))
    assert (answer, settled["state"], settled["asker"], settled["version"]) == ("card.settled", "allowed", "agent", 1)
    await asyncio.wait_for(waiting, 15)
    await require(desk, name)
    assert (await answers(office, decision(office, cards[0], "revoke")))[0][1]["state"] == "revoked"
    assert (await pending_card(office, desk, name)).card_id != cards[0].card_id


async def test_who_waits_hears_of_a_refusal_and_is_refused_from_then_on(office: Office) -> None:
    desk, name = desk_of(office), a_name()
    card = await pending_card(office, desk, name)
    waiting = asyncio.create_task(require(desk, name, wait_s=20))
    await asyncio.sleep(0)
    assert (await answers(office, decision(office, card, "refuse")))[0][1]["state"] == "refused"
    for each in (waiting, require(desk, name), require(desk, name, operation="post")):
        with pytest.raises(Refused) as caught:
            await asyncio.wait_for(each, 15)
        assert caught.value.code == "card_refused"


async def test_nobody_is_worn_down_by_cards(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.connectors.cards.usecases.request_card.MOST_WAITING", 0)
    with pytest.raises(TooMany, match="wait for a person"):
        await require(desk_of(office), a_name(), asker="site")


async def test_a_decision_that_is_not_what_it_seems_changes_nothing(office: Office) -> None:
    desk, name = desk_of(office), a_name()
    card = await pending_card(office, desk, name)
    stranger = SigningKey(b"s" * 32)
    good = decision(office, card)
    other = OPENING.model_copy(update={"person_name": "Somebody else"})
    by_agent = OPENING.model_copy(update={"via": "agent"})
    forged = {
        "by a stranger": good.model_copy(update={"statement": stranger.sign(CardDecision.from_bytes(good.statement.payload).model_copy(update={"key_id": stranger.key_id}))}),
        "unsigned": good.model_copy(update={"statement": good.statement.model_copy(update={"signature": b""})}),
        "another person": good.model_copy(update={"opening": other}),
        "by an agent": decision(office, card, opening=by_agent),
        "another card's event": good.model_copy(update={"card_id": uuid4()}),
        "of a card that says something else": decision(office, card, card_hash="f" * 64),
        "after its time by its own clock": decision(office, card, decided_at=now() + LIFE + timedelta(seconds=1)),
    }  # fmt: skip
    for says, data in forged.items():
        [(answer, refused)] = await answers(office, data)
        assert answer == "change.refused" and refused["reason"], says
    assert office.keeper.book.cards[card.card_id].verdict is None
    assert [each[0] for each in await answers(office, good)] == ["card.settled"]


async def test_a_card_expires_once_and_cannot_be_decided_then(office: Office) -> None:
    desk, name = desk_of(office), a_name()
    card = await pending_card(office, desk, name)
    later = now() + LIFE
    for _ in range(2):
        async with office.db.transaction() as tx:
            await expire_cards(tx, office.keeper, later)
    rows = await office.rows("SELECT body FROM app.outbox WHERE name = 'card.settled' AND about = $1", f"card:{card.card_id}")  # fmt: skip
    assert [json.loads(row["body"])["data"]["state"] for row in rows] == ["expired"]


async def test_everything_about_cards_and_connectors_is_in_the_audit(office: Office) -> None:
    desk, name = desk_of(office), a_name()
    await setting(office, name, 0)
    await setting(office, name, 1, enabled=False)
    card = await pending_card(office, desk, name)
    await answers(office, decision(office, card))
    rows = await office.rows(
        "SELECT convert_from(entry, 'UTF8')::jsonb ->> 'operation' AS o FROM core.call_audit WHERE convert_from(entry, 'UTF8')::jsonb ->> 'connector' = $1 ORDER BY seq",
        name,
    )
    assert [row["o"] for row in rows] == ["connector.declare", "connector.off", "card.request", "card.allow"]


async def test_a_connector_of_a_kind_that_is_gone_can_be_switched_off(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = a_name()
    await setting(office, name, 0)
    monkeypatch.delitem(KINDS, "http")
    for changed in ({}, {"enabled": False, "settings": "{}"}):
        [(answer, refused)] = await setting(office, name, 1, **changed)
        assert answer == "change.refused" and "no kind of connector 'http'" in refused["reason"]
    [(answer, applied)] = await setting(office, name, 1, enabled=False)
    assert (answer, applied["enabled"], applied["hosts"]) == ("connector.applied", False, [])


async def test_a_connector_is_declared_checked_and_switched(office: Office) -> None:
    name = a_name()
    [(answer, applied)] = await setting(office, name, 0)
    assert (answer, applied["hosts"], applied["version"]) == ("connector.applied", ["api.example.com:443"], 1)
    [(answer, refused)] = await setting(office, name, 0)
    assert answer == "change.refused" and refused["code"] == "conflict"
    [(answer, refused)] = await setting(office, name, 1, settings='{"base":"https://api.example.com","key":"x"}')
    assert answer == "change.refused" and "key" in refused["reason"]
    [(answer, refused)] = await setting(office, name, 1, settings='{ "base": "https://api.example.com" }')
    assert answer == "change.refused" and "canonical" in refused["reason"]
    [(answer, refused)] = await setting(office, a_name(), 0, kind="nothing")
    assert answer == "change.refused" and "http" in refused["reason"]
    await setting(office, name, 1, enabled=False)
    assert not office.keeper.book.connectors[name].enabled


TAMPERINGS = {
    "a decision turned round": "UPDATE core.statements SET statement = convert_to(replace(convert_from(statement, 'UTF8'), '\"refuse\"', '\"allow\"'), 'UTF8'), statement_hash = encode(sha256(convert_to(replace(convert_from(statement, 'UTF8'), '\"refuse\"', '\"allow\"'), 'UTF8')), 'hex') WHERE subject = $1",
    "another person named": "UPDATE core.statements SET person_name = 'Nobody' WHERE subject = $1",
    "a card that says more": "UPDATE core.cards SET card = convert_to(replace(convert_from(card, 'UTF8'), 'api.example.com', 'evil.example.com'), 'UTF8'), card_hash = encode(sha256(convert_to(replace(convert_from(card, 'UTF8'), 'api.example.com', 'evil.example.com'), 'UTF8')), 'hex') WHERE card_id::text = substr($1, 6)",
}


async def guarded(admin: asyncpg.Connection, how: str) -> None:
    """The triggers that keep the book's rows as they are."""
    names = "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN ('core.statements'::regclass, 'core.cards'::regclass)"
    for table, trigger in await admin.fetch(names):
        await admin.execute(f'ALTER TABLE {table} {how} TRIGGER "{trigger}"')


@pytest.mark.parametrize("tampering", list(TAMPERINGS))
async def test_a_row_that_somebody_changed_opens_nothing(office: Office, servers: Servers, tampering: str) -> None:
    """By the database's own administrator, who can take the triggers away; then put back as it was."""
    card = await pending_card(office, desk_of(office), a_name())
    await answers(office, decision(office, card, "refuse"))
    admin = await asyncpg.connect(host=str(servers.layout.pg_socket_dir), user="pgadm", database="system_db")
    undo = await admin.fetchrow("SELECT * FROM core.statements WHERE subject = $1", f"card:{card.card_id}")
    assert undo is not None
    raw = await admin.fetchval("SELECT card FROM core.cards WHERE card_id = $1", card.card_id)
    try:
        await guarded(admin, "DISABLE")
        await admin.execute(TAMPERINGS[tampering], f"card:{card.card_id}")
        fresh = Keeper(office.db, PublicKeys.load(office.settings.public_keys), Notices(office.db, several=False))
        with pytest.raises(BadSignature):
            await fresh.start()
    finally:
        await admin.execute(
            "UPDATE core.statements SET statement = $2, statement_hash = $3, person_name = $4 WHERE position = $1",
            undo["position"], undo["statement"], undo["statement_hash"], undo["person_name"],
        )  # fmt: skip
        await admin.execute("UPDATE core.cards SET card = $2, card_hash = $3 WHERE card_id = $1", card.card_id, raw, card.hash)  # fmt: skip
        await guarded(admin, "ENABLE ALWAYS")
        await admin.close()
    again = Keeper(office.db, PublicKeys.load(office.settings.public_keys), Notices(office.db, several=False))
    await again.start()
    await again.stop()
    assert again.book.cards[card.card_id].verdict == "refuse"


async def test_what_a_person_took_back_counts_within_a_second_where_no_notice_came(office: Office) -> None:
    """Whoever wrote it may have ended before telling the other instances."""
    card = await pending_card(office, desk_of(office), a_name())
    await answers(office, decision(office, card))
    other = Keeper(office.db, PublicKeys.load(office.settings.public_keys), Notices(office.db, several=False))
    await other.start()
    heard = asyncio.Event()
    other.listeners.append(heard.set)
    await answers(office, decision(office, card, "revoke"))
    await asyncio.wait_for(heard.wait(), 1)
    assert other.book.cards[card.card_id].verdict == "revoke"
    await other.stop()
