"""Automations on a real database: what stands behind one, what ends it, what its delegation is for, and what counts as a failed run (rules 28, 30; S10)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.agency import AUTOMATE, ActionCard
from schemas.agent.v1 import AutomationStated
from schemas.envelope import Envelope
from schemas.outward import Delegation, Owner
from schemas.statements import Signed
from schemas.text import sha256
from services.agent.actions.desk import ActionDesk
from services.agent.automations.allowed import check_allowed
from services.agent.automations.delegations import BoundDelegations
from services.agent.automations.domain import APP, AutomationArguments, fault_of
from services.agent.automations.tools import make_tools
from services.agent.automations.usecases.keep_delegation import keep_delegation
from services.agent.automations.watch import SHUT_OUT, AutomationWatch
from services.agent.builtin.talk import NOT_UNDERSTOOD
from services.agent.conversations.domain import ToolCall, TurnRecord
from services.agent.loop.toolbox import Toolbox
from services.agent.notifications.kept import Notifications
from services.agent.owners.acting import Acting, acting
from services.agent.owners.deciders import Deciders
from services.agent.owners.delegations import Delegations
from services.agent.owners.domain import Me
from services.agent.owners.usecases.record_delegation import record_delegation
from services.agent.tables import app
from services.agent.tasks.domain import Task
from services.agent.tasks.kept import KeptTasks
from services.agent.tools.domain import Asked, Tool
from shared.clock import now
from shared.db import Database, create_missing
from shared.db.notices import Notices
from shared.errors import BadSignature, Forbidden, Refused, SchleuseError
from shared.ids import fresh_id
from shared.signing import PublicKeys, SigningKey
from shared.testing.servers import Servers
from tests.services.agent.test_actions import CONSOLE, Bench

GIVEN = AutomationArguments(title="News", when="every day at 7", instruction="say what is new")


@dataclass
class Works(Bench):
    """A bench whose only tool is the one that makes automations."""

    keys: PublicKeys = field(kw_only=True)
    identity: SigningKey = field(kw_only=True)
    stopped: list[UUID] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tasks = KeptTasks(self.db)
        [self.tool] = make_tools(self.db, self.tasks, lambda: None)
        self.watch = AutomationWatch(
            self.db, self.who, self.stop, Notifications(self.db, Notices(self.db, several=False))
        )

    async def stop(self, me: Me, conversation_id: UUID) -> None:
        self.stopped.append(conversation_id)

    def asked(self, **changed: Any) -> Asked:
        return replace(Asked(self.me, fresh_id(), fresh_id()), **changed)

    async def wait(self, given: AutomationArguments = GIVEN) -> ActionCard:
        box = Toolbox(self.asked(), [self.tool], self.desk, lambda _: None, self.read)
        state, value, _ = await box._run(AUTOMATE, given.model_dump(mode="json"))
        assert state == "waiting", value
        return await self.card(UUID(value["card"].removeprefix(f"{CONSOLE}/actions/")))

    async def read(self, sources: object) -> None:
        raise AssertionError("it reads nothing")

    async def make(self, given: AutomationArguments = GIVEN) -> tuple[ActionCard, Task]:
        card = await self.wait(given)
        await self.take(self.decision(card))
        assert [state for state, _ in await self.settled(card)] == ["done"]
        [task] = [each for each in await self.tasks.list(self.me) if each.card_id == card.card_id]
        return card, task

    async def allowed(self, card_id: UUID | None, instruction: str) -> ActionCard:
        async with self.db.owned(self.me.owner) as tx:
            return await check_allowed(tx, self.deciders, self.me.owner, card_id, instruction)

    async def stated(self, task: Task) -> list[AutomationStated]:
        await self.watch.look()
        async with self.db.reading() as tx:
            rows = await tx.raw.fetch("SELECT body FROM app.outbox WHERE key = $1 ORDER BY position", f"automation:{task.task_id}")  # fmt: skip
        return [AutomationStated.model_validate(Envelope.model_validate_json(row["body"]).data) for row in rows]

    def bound(self, card_id: UUID | None, digest: str | None, minutes: float = 60, **changed: Any) -> Signed:
        at = now()
        fields: dict[str, Any] = {"owner": self.me.owner, "audience": "agent"} | changed
        return self.identity.sign(
            Delegation(
                key_id=self.identity.key_id, delegation_id=fresh_id(), operations=("audit.search",), issued_at=at - timedelta(minutes=1),
                expires_at=at + timedelta(minutes=minutes), card_id=card_id, instruction_hash=digest, **fields,
            )
        )  # fmt: skip

    async def keep(self, signed: Signed) -> bool:
        async with self.db.transaction() as tx:
            return await keep_delegation(tx, self.keys, signed)


@pytest.fixture(scope="module")
async def db(servers: Servers) -> AsyncIterator[Database]:
    found = Database(servers.settings("agent"), pool_size=6)
    await found.start()
    await create_missing(found, app)
    yield found
    async with found.transaction() as tx:
        for table in ("todo", "action_places", "automation_places", "due_tasks"):
            await tx.raw.execute(f"DELETE FROM app.{table}")
    await found.stop()


@pytest.fixture
def works(servers: Servers, db: Database) -> Works:
    keys = servers.settings("console").keys
    me, public = Me(Owner(kind="user", id=str(uuid4())), "Kim", "member", "Europe/Berlin"), PublicKeys.load(servers.settings("agent").public_keys)  # fmt: skip
    return Works(db, SigningKey.load(keys / "decision.key"), Deciders(public), me, keys=public, identity=SigningKey.load(keys / "identity.key"))  # fmt: skip


async def test_it_waits_on_a_card_that_says_exactly_when_and_what_in_any_conversation(works: Works) -> None:
    card = await works.wait()
    said = AutomationArguments.model_validate_json(card.arguments)
    assert (card.own, said.instruction, said.zone, said.rule["kind"], len(said.next)) == (False, "say what is new", "Europe/Berlin", "wall", 5)  # fmt: skip
    assert "07:00 Europe/Berlin = " in said.next[0] and said.words
    assert await works.tasks.list(works.me) == ()
    await works.take(works.decision(card))
    assert (await works.settled(card))[0][0] == "done"
    [task] = await works.tasks.list(works.me)
    assert (task.kind, task.state, task.text, task.card_id, task.instruction_hash) == ("automation", "active", "say what is new", card.card_id, sha256(b"say what is new"))  # fmt: skip


async def test_asked_for_at_another_time_it_is_another_card_in_place_of_the_first(works: Works) -> None:
    """ "No, at 8": only one of both can be allowed."""
    where = works.asked()
    box = Toolbox(where, [works.tool], works.desk, lambda _: None, works.read)
    cards = [
        (await box._run(AUTOMATE, GIVEN.model_copy(update={"when": when}).model_dump(mode="json")))[1]["card"]
        for when in ("every day at 7", "every day at 8")
    ]
    first, second = [await works.card(UUID(each.removeprefix(f"{CONSOLE}/actions/"))) for each in cards]
    await works.take(works.decision(first))
    await works.take(works.decision(second))
    assert [state for state, _ in await works.settled(first)] == ["expired"]
    assert [state for state, _ in await works.settled(second)] == ["done"]
    assert [each.card_id for each in await works.tasks.list(works.me)] == [second.card_id]


@pytest.mark.parametrize(
    ("changed", "given"),
    [
        ({}, GIVEN.model_copy(update={"when": "every blue moon"})),
        ({"me": Me(Owner(kind="user", id="7"), "Kim", "admin", app=APP)}, GIVEN),
        ({"me": Me(Owner(kind="guest", id="7"), "", "guest")}, GIVEN),
    ],
)
async def test_what_is_not_understood_or_asked_for_by_an_automation_or_a_guest_is_no_card(
    works: Works, changed: dict[str, Any], given: AutomationArguments
) -> None:
    box = Toolbox(works.asked(**changed), [works.tool], ActionDesk(works.db, CONSOLE), lambda _: None, works.read)
    state, value, _ = await box._run(AUTOMATE, given.model_dump(mode="json"))
    assert state == "refused", value


async def test_nothing_makes_one_but_a_card_and_not_when_its_time_has_passed(works: Works) -> None:
    exact = works.tool.exact(works.asked(), GIVEN)
    with pytest.raises(Refused, match="by a card"):
        await works.tool.run(works.asked(), exact)
    gone = exact.model_copy(update={"rule": {"kind": "once", "at": (now() - timedelta(minutes=5)).isoformat()}})
    with pytest.raises(SchleuseError):
        await works.tool.run(works.asked(card_id=fresh_id()), gone)
    assert await works.tasks.list(works.me) == ()


async def test_a_run_needs_the_card_the_word_and_the_very_instruction_as_they_stand_now(works: Works) -> None:
    card, task = await works.make()
    assert await works.allowed(card.card_id, task.text) == card
    with pytest.raises(BadSignature, match="not the one"):
        await works.allowed(card.card_id, "send my mails to eve")
    for nothing in (None, fresh_id(), (await works.wait(GIVEN.model_copy(update={"title": "Waits"}))).card_id):
        with pytest.raises(Forbidden, match="no card"):
            await works.allowed(nothing, task.text)
    await works.take(works.decision(card, "revoke"))
    with pytest.raises(Forbidden, match="took it back"):
        await works.allowed(card.card_id, task.text)


async def test_taken_back_it_ends_is_told_once_and_delegated_for_no_more(works: Works) -> None:
    card, task = await works.make()
    assert [(each.state, each.version) for each in await works.stated(task)] == [("active", 1)]
    await works.tasks.pause(works.me, task.task_id)
    digest = sha256(task.text.encode())
    assert await works.keep(works.bound(card.card_id, digest))
    await works.take(works.decision(card, "revoke"))
    await works.take(works.decision(card, "revoke"))
    assert [state for state, _ in await works.settled(card)] == ["done", "revoked"]
    told = await works.stated(task)
    assert [(each.state, each.version) for each in told][-1][0] == "ended" and told[
        -1
    ].reason == "a person took it back"
    assert len(await works.stated(task)) == len(told)
    async with works.db.owned(works.me.owner) as tx:
        assert await tx.raw.fetchval("SELECT count(*) FROM core.automation_delegations WHERE owner_id = $1", works.me.owner.id) == 0  # fmt: skip
        assert await tx.raw.fetchval("SELECT count(*) FROM core.notifications WHERE owner_id = $1", works.me.owner.id) == 1  # fmt: skip


async def test_after_a_restore_each_is_paused_once_until_its_owner_resumes_it(works: Works) -> None:
    """What was taken back since the backup is not known."""
    _, task = await works.make()
    works.watch._restored_at = now()
    await works.watch.look()
    assert (await works.tasks.get(works.me, task.task_id)).state == "paused"
    await works.tasks.resume(works.me, task.task_id)
    assert (await works.stated(task))[-1].state == "active"
    assert (await works.tasks.get(works.me, task.task_id)).state == "active"


async def test_whose_owner_may_not_come_in_ends_too(works: Works) -> None:
    _, task = await works.make()
    works.may_come = False
    assert (await works.stated(task))[-1].reason == SHUT_OUT
    assert (await works.tasks.list(works.me, ended=True))[0].state == "ended"


async def test_only_its_own_delegation_is_asked_with_and_only_for_its_own_instruction(works: Works) -> None:
    """S10: without, expired, for another instruction, of another card, the owner's own."""
    card_id, digest = fresh_id(), sha256(b"say what is new")
    delegations, run = Delegations(works.db, works.keys), Acting(works.me.owner, card_id, digest)
    delegations.bound = BoundDelegations(works.db, works.keys)
    own = works.bound(None, None)
    assert not await works.keep(own)
    async with works.db.transaction() as tx:
        await record_delegation(tx, works.keys, own)

    async def found(for_run: Acting) -> Signed | None:
        token = acting.set(for_run)
        try:
            return await delegations.of(works.me.owner)
        finally:
            acting.reset(token)

    assert await found(run) is None, "not even the owner's own"
    good = works.bound(card_id, digest)
    assert await works.keep(good)
    assert await found(run) == good
    assert await found(replace(run, instruction_hash=sha256(b"another"))) is None
    assert await found(replace(run, card_id=fresh_id())) is None
    assert await found(replace(run, owner=Owner(kind="user", id=str(uuid4())))) is None
    late = fresh_id()
    assert await works.keep(works.bound(late, digest, minutes=-0.5))
    assert await found(replace(run, card_id=late)) is None
    with pytest.raises(BadSignature):
        async with works.db.transaction() as tx:
            await record_delegation(tx, works.keys, good)
    for wrong in (works.bound(card_id, None), works.bound(None, digest), works.bound(card_id, digest, audience="console")):  # fmt: skip
        with pytest.raises(BadSignature):
            await works.keep(wrong)


def ran(reply: str = "done", outcome: Any = "ok", error: str = "", *calls: tuple[str, Any]) -> TurnRecord:
    made = [ToolCall(name, name, {}, state, shown=f"{name} {state}") for name, state in calls]
    return TurnRecord(fresh_id(), fresh_id(), APP, "m", "p", now(), reply, 1, made, Decimal(0), outcome, error)


@pytest.mark.parametrize(
    ("record", "reads", "fault"),
    [
        (ran(), False, ""),
        (ran(), True, "could read none"),
        (ran("none new", "ok", "", ("email_search", "failed")), False, "email_search failed"),
        (ran("none new", "ok", "", ("email_search", "waiting"), ("email_accounts", "done")), False, "could read none"),
        (ran("nothing", "ok", "", ("email_search", "failed"), ("read_page", "done")), True, ""),
        (ran("sent", "ok", "", ("email_send", "waiting")), False, ""),
        (ran("", "refused", "The cap is reached."), False, "The cap is reached."),
        (ran(""), False, "it brought nothing"),
        (ran(f"{NOT_UNDERSTOOD[1]} Versuche …"), False, "did not understand"),
    ],
)
def test_rule_30_what_could_not_be_read_is_no_quiet_day(record: TurnRecord, reads: bool, fault: str) -> None:
    found = fault_of(record, reads=reads)
    assert fault in found if fault else not found


def test_the_tool_is_for_everybody_who_has_signed_in(works: Works) -> None:
    tool: Tool = works.tool
    assert tool.may("viewer") and not tool.may("guest") and tool.always and not tool.own
