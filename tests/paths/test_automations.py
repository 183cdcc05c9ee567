"""Automations in the running product: asked for in the chat, allowed on a card, run by their own delegation, taken back (rules 28, 30, 31; S10)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from schemas.statements import Signed
from services.agent.builtin.purposes import TITLE
from shared.asking.asker import Asker
from shared.asking.carrying import instruction_hash
from shared.errors import SchleuseError
from shared.ids import fresh_id
from tests.counterparts.scripted import Answer, Scripted
from tests.counterparts.server import serving
from tests.factories.asking import asking, decide
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.talking import Talk
from tests.factories.waiting import until
from tests.paths.test_agent_provider import choose, wire

pytestmark = pytest.mark.stack
PATIENCE = 60


def script(asked: dict[str, Any]) -> Answer:
    """Does what it is told: asks for an automation, reads a page that nobody reaches, or says hello."""
    last = asked["messages"][-1]
    said = str(last["content"])
    if TITLE in str(asked):
        return Answer(["A title"])
    if last["role"] == "tool":
        return Answer([said])
    if "automate" in said:
        return Answer(calls=[("call_1", "create_automation", said[said.index("{") : said.rindex("}") + 1])])
    if "read the page" in said:
        return Answer(calls=[("call_1", "read_page", '{"url": "https://nobody.example/"}')])
    return Answer(["Hello from the run."])


@dataclass
class Made:
    """An automation that was allowed. `card`, `task`: their ids."""

    stack: Stack
    card: str
    task: str

    def come(self) -> dict[str, Any]:
        """Its time comes now; the run, once it is over."""
        rows = f"task_id = '{self.task}'"
        before = self.stack.value("agent", f"SELECT count(*) FROM core.task_runs WHERE {rows} AND ended_at IS NOT NULL")
        self.stack.rows("agent", f"WITH t AS (UPDATE core.tasks SET next_at = now() WHERE {rows} RETURNING next_at) UPDATE app.due_tasks SET due_at = t.next_at FROM t WHERE {rows} RETURNING due_at")  # fmt: skip
        query = f"SELECT state, output, error, reason, conversation_id FROM core.task_runs WHERE {rows} AND ended_at IS NOT NULL ORDER BY nominal_at DESC"
        found = until(
            lambda: (all_ := self.stack.rows("agent", query)) and len(all_) > before and all_,
            PATIENCE,
            "the run is over",
        )
        run: dict[str, Any] = found[0]
        return run

    @property
    def state(self) -> tuple[str, str]:
        [row] = self.stack.rows("agent", f"SELECT state, reason FROM core.tasks WHERE task_id = '{self.task}'")
        return row["state"], row["reason"]

    @property
    def known(self) -> dict[str, Any]:
        """As the console tells it."""
        listed = self.stack.ask("console", "automations.list", all=True)["automations"]
        return next((each for each in listed if each["card"] == self.card), {})

    @property
    def delegation(self) -> Signed | None:
        query = f"SELECT encode(statement, 'hex') AS s, encode(signature, 'hex') AS g, key_id FROM core.automation_delegations WHERE card_id = '{self.card}'"
        rows = self.stack.rows("agent", query)
        return Signed(payload=bytes.fromhex(rows[0]["s"]), signature=bytes.fromhex(rows[0]["g"]), key_id=rows[0]["key_id"]) if rows else None  # fmt: skip


@dataclass
class Workplace:
    stack: Stack
    connector: str
    talk: Talk
    provider: Scripted

    def ask(self, title: str, instruction: str, **more: Any) -> str:
        """The card that waits."""
        choose(self.stack, self.connector)
        wanted = {"title": title, "when": "every day at 03:00", "instruction": instruction} | more
        said = self.talk.say(f"automate {json.dumps(wanted)}")
        found = re.search(r"/actions/([0-9a-f-]{36})", said["reply"])
        assert found, said
        until(lambda: self.stack.rows("console", f"SELECT card_id FROM app.action_cards WHERE card_id = '{found[1]}'"), PATIENCE, "the card is at the console")  # fmt: skip
        return found[1]

    def make(self, title: str, instruction: str, **more: Any) -> Made:
        card = self.ask(title, instruction, **more)
        assert self.stack.ask("console", "actions.decide", card=card, verdict="allow")["state"] == "done"
        [row] = self.stack.rows("agent", f"SELECT task_id FROM core.tasks WHERE card_id = '{card}'")
        made = Made(self.stack, card, row["task_id"])
        until(lambda: made.delegation, PATIENCE, "the console says that the agent may act for it")
        return made


@pytest.fixture(scope="module")
def workplace(stack: Stack, owner: Person) -> Iterator[Workplace]:
    connector, provider = f"llm-{fresh_id().hex[:6]}", Scripted(script=script)
    person = owner.add("member", "Vera Automatic")
    with serving(provider.handle) as found:
        wire(stack, connector, found)
        made = Workplace(stack, connector, Talk.of(stack, person.handle), provider)
        choose(stack, connector)
        if made.talk.say("good morning")["error"]:
            decide(stack, connector)
        until(lambda: not made.talk.say("good morning")["error"], PATIENCE, "the provider answers")
        yield made
        stack.ask("console", "agent.set", name="model", subject="", value="", reason="a test")


def test_one_is_asked_for_allowed_run_and_taken_back(workplace: Workplace, owner: Person) -> None:
    stack, instruction = workplace.stack, f"say hello {fresh_id()}"
    card = workplace.ask("Greeting", instruction)
    page = owner.page(f"/actions/{card}").text
    for words in (instruction, "every day at 03:00", "03:00 UTC", "create_automation"):
        assert words in page, re.findall(r"(?s)<pre.*?</pre>", page)
    assert not stack.rows("agent", f"SELECT task_id FROM core.tasks WHERE card_id = '{card}'"), "nothing before a word"
    made = workplace.make("Greeting", instruction)
    assert made.known["state"] == "active" and made.known["instruction"] == instruction and made.known["allowed_by"]
    run = made.come()
    assert (run["state"], run["output"], run["error"]) == ("done", "Hello from the run.", "")
    talk = workplace.talk.get(f"/conversations/{run['conversation_id']}/messages")
    assert [each["text"] for each in talk] == [instruction, "Hello from the run."]
    [told] = stack.rows("agent", f"SELECT title, text FROM core.notifications WHERE task_id = '{made.task}'")
    assert (told["title"], told["text"]) == ("Greeting", "Hello from the run.")
    assert stack.value("agent", f"SELECT count(*) FROM core.turns WHERE app = 'automation' AND conversation_id = '{run['conversation_id']}'") == 1  # fmt: skip
    assert stack.run("automations", "revoke", made.card, "--reason", "enough of it").returncode == 0
    until(lambda: made.state[0] == "ended", PATIENCE, "it has ended")
    assert "took it back" in made.state[1] and made.delegation is None
    until(lambda: made.known["state"] == "revoked", PATIENCE, "the console knows")
    assert (
        made.card in stack.run("automations", "list", "--all").stdout and "Greeting" in owner.page("/automations").text
    )


def test_its_delegation_is_for_one_instruction_and_ends_with_its_card(workplace: Workplace) -> None:
    made, stack = workplace.make("Bound", "say hello, bound"), workplace.stack
    signed = made.delegation
    assert signed is not None
    digest = json.loads(signed.payload)["instruction_hash"]

    def tried(carried: str | None, delegation: Signed = signed) -> str:
        async def call(asker: Asker) -> str:
            token = instruction_hash.set(carried)
            try:
                await asker.call(workplace.connector, "models", {}, delegation=delegation)
            except SchleuseError as error:
                return error.code
            finally:
                instruction_hash.reset(token)
            return "done"

        return asking(stack, call)

    assert tried(None) == tried("0" * 64) == "delegation"
    assert tried(digest) != "delegation"
    stack.ask("console", "automations.revoke", card=made.card, reason="a test")
    until(lambda: tried(digest) == "delegation", PATIENCE, "the connectors act for it no more")


def test_what_can_read_none_of_its_sources_has_failed_and_is_told_once(workplace: Workplace) -> None:
    """Rule 30."""
    made = workplace.make("Reader", "read the page")
    runs = [made.come(), made.come()]
    assert {each["state"] for each in runs} == {"failed"} and all(
        "none of its sources" in each["error"] for each in runs
    )
    told = workplace.stack.rows("agent", f"SELECT text FROM core.notifications WHERE task_id = '{made.task}'")
    assert len(told) == 1 and "did not run" in told[0]["text"]
    quiet = workplace.make("Idle reader", "say hello, though there was to be read", reads=True).come()
    assert quiet["state"] == "failed" and "it tried none" in quiet["error"]


@pytest.mark.long
def test_what_the_cap_refuses_is_a_failed_run_and_told(workplace: Workplace) -> None:
    """Rule 1, under its owner's cap."""
    made, stack = workplace.make("Too dear", "say hello, too dear"), workplace.stack
    whose = stack.value("agent", f"SELECT owner_kind || ':' || owner_id FROM core.tasks WHERE task_id = '{made.task}'")
    stack.ask("console", "agent.set", name="cap", subject=whose, value="0", reason="a test")
    try:
        run = made.come()
    finally:
        stack.ask("console", "agent.set", name="cap", subject=whose, value="", reason="a test")
    assert run["state"] == "failed" and "cap" in run["error"]
    [told] = stack.rows("agent", f"SELECT title, text FROM core.notifications WHERE task_id = '{made.task}'")
    assert told["title"] == "Too dear" and "cap" in told["text"]


def test_whose_owner_is_shut_out_it_ends(workplace: Workplace, owner: Person) -> None:
    """And nothing runs for them any more."""
    person = owner.add("member", "Nils Gone")
    theirs = Workplace(
        workplace.stack, workplace.connector, Talk.of(workplace.stack, person.handle), workplace.provider
    )
    made = theirs.make("Left behind", "say hello, left behind")
    workplace.stack.ask("console", "people.change", handle=person.handle, disabled=True)
    until(lambda: made.state[0] == "ended", PATIENCE, "it has ended")
    assert "may not come in" in made.state[1] and UUID(made.card)
