"""Action cards on a real database: what waits, who decides, and that exactly those bytes run, once (S11)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.agency import ActionCard, ActionDecision
from schemas.catalogue import BY_NAME
from schemas.console.v1 import ActionDecided
from schemas.envelope import Envelope
from schemas.outward import Owner
from schemas.statements import Opening
from services.agent.actions import store
from services.agent.actions.desk import ActionDesk
from services.agent.actions.domain import MOST_WAITING, ascii_form, read_card
from services.agent.actions.holding import ActionsHolding
from services.agent.actions.runner import ActionRunner
from services.agent.actions.usecases.record_decision import record_decision
from services.agent.owners.deciders import Deciders
from services.agent.owners.domain import Me
from services.agent.tables import app
from services.agent.tools.domain import PEOPLE, Arguments, Asked, Found, Tool
from shared.bus import Received
from shared.clock import now
from shared.db import Database, create_missing
from shared.errors import BadSignature, Permanent, Refused, TooMany
from shared.ids import fresh_id, new_id
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers

CONSOLE = "http://localhost:8420"
OPENING = Opening(person_id=str(uuid4()), person_name="Mara Okonjo", via="console", reason="as agreed", nonce="5d" * 16)


class Letter(Arguments):
    to: str
    text: str


@dataclass
class Bench:
    """`sent`: what the tool really did. `notes`: what conversations were told."""

    db: Database
    key: SigningKey
    deciders: Deciders
    me: Me
    sent: list[tuple[Asked, Letter]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tainted: list[str] = field(default_factory=list)
    may_come: bool = True
    runner: ActionRunner = field(init=False)
    desk: ActionDesk = field(init=False)
    tool: Tool = field(init=False)

    def __post_init__(self) -> None:
        self.tool = Tool("send_letter", "Sends.", Letter, self.send, PEOPLE, "send", own=False, recipients=lambda given: (given.to,))  # fmt: skip
        self.desk = ActionDesk(self.db, CONSOLE)
        self.runner = self.another("agent")

    def another(self, part: str) -> ActionRunner:
        return ActionRunner(self.db, self.desk, self.deciders, lambda: (self.tool,), self, self.who, part)

    async def send(self, asked: Asked, given: Letter) -> Found:
        self.sent.append((asked, given))
        return Found({"sent": True}, f"sent to {given.to}", ("mail from ada@example.org",))

    async def who(self, owner: Owner, name: str) -> Me | None:
        return self.me if self.may_come and owner == self.me.owner else None

    async def note(self, me: Me, conversation_id: UUID, text: str) -> None:
        self.notes.append(text)

    async def taint(self, me: Me, conversation_id: UUID, sources: Sequence[str]) -> None:
        self.tainted += sources

    async def ask(
        self, to: str = "ada@example.org", text: str = "Hello", conversation_id: UUID | None = None
    ) -> ActionCard:
        asked = Asked(self.me, conversation_id or fresh_id(), fresh_id(), ("web page https://evil.example/",))
        link = await self.desk.ask(asked, self.tool, Letter(to=to, text=text))
        return await self.card(UUID(link.removeprefix(f"{CONSOLE}/actions/")))

    async def card(self, card_id: UUID) -> ActionCard:
        async with self.db.owned(self.me.owner) as tx:
            row = await store.card(tx, self.me.owner, card_id)
        assert row is not None
        return read_card(row["card"])

    def decision(self, card: ActionCard, verdict: Any = "allow", **changed: Any) -> ActionDecided:
        key = changed.pop("key", self.key)
        opening = changed.pop("opening", OPENING)
        said = {
            "card_id": card.card_id,
            "card_hash": card.hash,
            "verdict": verdict,
            "decided_at": now(),
            "decider": opening.commitment,
        }
        signed = key.sign(ActionDecision(key_id=key.key_id, **(said | changed)))
        return ActionDecided(card_id=card.card_id, statement=signed, opening=opening)

    async def take(self, data: ActionDecided, sender: str = "console") -> None:
        kind = BY_NAME["action.decided"]
        envelope = Envelope(id=new_id(), source=f"/{sender}", type=kind.ce_type, dataschema=kind.schema_name(), subject="s", time=now(), key="k", keyversion=1, data={})  # fmt: skip
        async with self.db.transaction() as tx:
            await record_decision(tx, Received(data, envelope, b"", ""), self.deciders, now())

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        await self.runner.start()
        yield
        await self.runner.stop()

    async def settled(self, card: ActionCard) -> list[tuple[str, str]]:
        """Run until there is nothing to do; what the console was told."""
        for _ in range(4):
            await self.runner._round()
        async with self.db.reading() as tx:
            rows = await tx.raw.fetch("SELECT body FROM app.outbox WHERE name = 'action.settled' AND key = $1", f"action:{card.card_id}")  # fmt: skip
        told = [Envelope.model_validate_json(row["body"]).data for row in rows]
        return [(each["state"], each["reason"]) for each in told]


@pytest.fixture(scope="module")
async def db(servers: Servers) -> AsyncIterator[Database]:
    found = Database(servers.settings("agent"), pool_size=6)
    await found.start()
    await create_missing(found, app)
    yield found
    async with found.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")
        await tx.raw.execute("DELETE FROM app.action_places")
    await found.stop()


@pytest.fixture
def bench(servers: Servers, db: Database) -> Bench:
    key = SigningKey.load(servers.settings("console").keys / "decision.key")
    me = Me(Owner(kind="user", id=str(uuid4())), "Kim", "admin")
    return Bench(db, key, Deciders(PublicKeys.load(servers.settings("agent").public_keys)), me)


async def test_nothing_is_done_until_a_person_allows_it_and_then_exactly_that_once(bench: Bench) -> None:
    card = await bench.ask("ada@bücher.example", "Grüße \u202e")
    assert card.recipients == ("ada@xn--bcher-kva.example",) and card.sources == ("web page https://evil.example/",)
    assert card.arguments == '{"text":"Grüße \u202e","to":"ada@bücher.example"}' and not card.own
    assert await bench.settled(card) == [] and not bench.sent
    await bench.take(bench.decision(card))
    await bench.take(bench.decision(card))
    assert await bench.settled(card) == [("done", "sent to ada@bücher.example")]
    [(asked, given)] = bench.sent
    assert given == Letter(to="ada@bücher.example", text="Grüße \u202e")
    assert asked.tainted == card.sources and asked.conversation_id == card.conversation_id
    assert bench.tainted == ["mail from ada@example.org"] and len(bench.notes) == 1 and "was done" in bench.notes[0]
    await bench.take(bench.decision(card))
    assert len(await bench.settled(card)) == 1 and len(bench.sent) == 1


async def test_the_same_wish_is_one_card_and_nobody_is_worn_down(bench: Bench) -> None:
    chat = fresh_id()
    cards = await asyncio.gather(*(bench.ask(conversation_id=chat) for _ in range(5)))
    assert len({each.card_id for each in cards}) == 1
    assert (await bench.ask(text="Other", conversation_id=chat)).card_id != cards[0].card_id
    for number in range(MOST_WAITING - 2):
        await bench.ask(text=str(number))
    with pytest.raises(TooMany, match="wait for a person"):
        await bench.ask(text="one more")


async def test_refused_is_told_and_never_done(bench: Bench) -> None:
    card = await bench.ask()
    await bench.take(bench.decision(card, "refuse"))
    assert await bench.settled(card) == [("refused", "as agreed")]
    await bench.take(bench.decision(card))
    await bench.settled(card)
    assert not bench.sent and "refused it" in bench.notes[0]


@pytest.mark.parametrize("forged", ["key", "hash", "card", "via", "person", "sender"])
async def test_a_forged_word_runs_nothing(bench: Bench, forged: str) -> None:
    card, other = await bench.ask(), await bench.ask(text="Another")
    sender = "agent" if forged == "sender" else "console"
    data = {
        "key": lambda: bench.decision(card, key=SigningKey(b"\x07" * 32)),
        "hash": lambda: bench.decision(card, card_hash=other.hash),
        "card": lambda: bench.decision(card).model_copy(update={"card_id": other.card_id}),
        "via": lambda: bench.decision(card, opening=OPENING.model_copy(update={"via": "agent"})),
        "person": lambda: bench.decision(card).model_copy(
            update={"opening": OPENING.model_copy(update={"person_name": "Eve"})}
        ),
        "sender": lambda: bench.decision(card),
    }[forged]()
    with pytest.raises(BadSignature):
        await bench.take(data, sender)
    assert await bench.settled(card) == [] and await bench.settled(other) == [] and not bench.sent


async def test_a_card_nobody_asked_for_is_parked(bench: Bench) -> None:
    card = (await bench.ask()).model_copy(update={"card_id": fresh_id()})
    with pytest.raises(Permanent, match="no action card"):
        await bench.take(bench.decision(card))


async def test_words_that_were_changed_after_the_decision_are_not_run(bench: Bench, postgres: Servers) -> None:
    """By whoever owns the tables: the agent itself cannot rewrite a card."""
    card = await bench.ask()
    await bench.take(bench.decision(card))
    owner = bench.me.owner
    with pytest.raises(Exception, match=r"denied|append-only"):
        async with bench.db.owned(owner) as tx:
            await tx.raw.execute("UPDATE core.action_cards SET tool = 'x' WHERE card_id = $1", card.card_id)
    forged = card.model_copy(update={"arguments": card.arguments.replace("ada@", "eve@")})
    async with bench.db.owned(owner) as tx:
        await tx.raw.execute("DELETE FROM core.action_cards WHERE card_id = $1", card.card_id)
        await tx.raw.execute("DELETE FROM app.action_places WHERE card_id = $1", card.card_id)
        await store.add_card(tx, forged, fresh_id())
        await store.move(tx, card.card_id, "decided", now())
    assert [state for state, _ in await bench.settled(card)] == ["failed"] and not bench.sent


async def test_a_place_that_says_decided_without_a_decision_runs_nothing(bench: Bench) -> None:
    card = await bench.ask()
    async with bench.db.transaction() as tx:
        await store.move(tx, card.card_id, "decided", now())
    assert [state for state, _ in await bench.settled(card)] == ["failed"] and not bench.sent


async def test_whoever_may_not_any_more_does_not(bench: Bench) -> None:
    card = await bench.ask()
    await bench.take(bench.decision(card))
    bench.may_come = False
    assert [state for state, _ in await bench.settled(card)] == ["failed"] and not bench.sent


async def test_a_tool_that_breaks_ends_its_action_alone(bench: Bench) -> None:
    async def broken(asked: Asked, given: Letter) -> Found:
        raise ValueError(f"no address: {given.to}")

    bench.tool = replace(bench.tool, run=broken)
    card = await bench.ask(text="for eyes of the owner")
    await bench.take(bench.decision(card))
    [(state, reason)] = await bench.settled(card)
    assert state == "failed" and "send_letter broke on this (ValueError" in reason and card.recipients[0] not in reason
    assert "did not work" in bench.notes[0]


async def test_what_was_begun_when_its_process_died_is_never_begun_again(bench: Bench) -> None:
    card = await bench.ask()
    await bench.take(bench.decision(card))
    async with bench.db.owned(bench.me.owner) as tx:
        place = await store.place(tx, card.card_id)
        assert place is not None and await store.begin(tx, place, "agent")
        await store.move(tx, card.card_id, "running", now(), "agent")
    assert await bench.settled(card) == []  # as far as it knows it runs still
    bench.runner = bench.another("agent")  # the process is started anew
    [(state, reason)] = await bench.settled(card)
    assert state == "failed" and "never run again" in reason and not bench.sent


async def test_two_instances_run_it_once(bench: Bench) -> None:
    cards = [await bench.ask(text=str(number)) for number in range(6)]
    for card in cards:
        await bench.take(bench.decision(card))
    other = bench.another("agent-2")
    await asyncio.gather(*(each._round() for each in (bench.runner, other, bench.runner, other)))
    assert sorted(given.text for _, given in bench.sent) == [str(number) for number in range(6)]


async def test_nobody_decided_in_seven_days(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.agent.actions.domain.LIFE", timedelta(milliseconds=1))
    card = await bench.ask()
    await asyncio.sleep(0.01)
    assert await bench.settled(card) == [("expired", "")]
    await bench.take(bench.decision(card))
    assert await bench.settled(card) == [("expired", "")] and not bench.sent


async def test_whose_data_is_deleted_leaves_no_words(bench: Bench) -> None:
    card = await bench.ask(text="nobody else's business")
    holding = ActionsHolding(bench.db)
    [(name, raw)] = [each async for each in holding.export(bench.me.owner)]
    assert name == "action_cards.json" and str(card.card_id).encode() in raw
    assert (await holding.forget(bench.me.owner), await holding.forget(bench.me.owner)) == (1, 0)
    async with bench.db.owned(bench.me.owner) as tx:
        assert await store.card(tx, bench.me.owner, card.card_id) is None
    assert [state for state, _ in await bench.settled(card)] == ["refused"]


async def test_a_guest_gets_no_card(bench: Bench) -> None:
    guest = Me(Owner(kind="guest", id="g"), "Guest", "guest")
    with pytest.raises(Refused, match="Sign in"):
        await bench.desk.ask(
            Asked(guest, fresh_id(), fresh_id(), ("web",)), bench.tool, Letter(to="a@b.example", text="")
        )


async def test_what_has_no_exact_form_gets_no_card(bench: Bench) -> None:
    with pytest.raises(Refused, match="NUL"):
        await bench.ask(text="a\x00b")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("ada@example.org", "ada@example.org"),
        ("ada@exаmple.org", "ada@xn--exmple-4nf.org"),
        ("exаmple.org:443", "xn--exmple-4nf.org:443"),
        ("https://exаmple.org/ä?q=ü", "https://xn--exmple-4nf.org/%C3%A4?q=%C3%BC"),
        ("https://[ä/", "https://[\\xe4/"),
        ("notes\u202etxt.md", "notes\\u202etxt.md"),
        ("Kim Müller", "Kim M\\xfcller"),
    ],
)  # fmt: skip
def test_a_recipient_is_shown_in_ascii(given: str, shown: str) -> None:
    assert ascii_form(given) == shown
