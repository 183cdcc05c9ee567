"""The agent with a provider, in the running product: through the connector, by the owner's delegation, into the ledger, on to the console."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from services.agent.builtin.purposes import TITLE
from shared.ids import fresh_id
from tests.counterparts.scripted import Answer, Scripted
from tests.counterparts.server import Counterpart, serving
from tests.factories.asking import decide, declare
from tests.factories.leaks import plant
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.talking import Talk
from tests.factories.waiting import until
from tests.paths.test_kinds import put

pytestmark = pytest.mark.stack
PRICES = 'input = "1.00"\noutput = "2.00"\n'


def script(asked: dict[str, Any]) -> Answer:
    """Remembers what it is told, counts when it is told to, and says the rest."""
    last = asked["messages"][-1]
    if TITLE in str(asked):
        return Answer(["A ", "title"], read=7, written=3)
    if last["role"] == "tool":
        return Answer(["It ", "is ", "remembered."], read=20, written=4)
    if "go on" in str(last["content"]):
        return Answer([f"word{number} " for number in range(600)], gap_s=0.05)
    if "remember" in str(last["content"]):
        return Answer(calls=[("call_1", "remember", '{"text": "the boat is blue"}')], read=15, written=6)
    return Answer(["Good ", "morning."])


@dataclass
class Provided:
    talk: Talk
    connector: str
    provider: Scripted


@pytest.fixture(scope="module")
def provided(stack: Stack, owner: Person) -> Iterator[Provided]:
    connector, provider = f"llm-{fresh_id().hex[:6]}", Scripted(script=script)
    with serving(provider.handle) as found:
        wire(stack, connector, found)
        yield Provided(Talk.of(stack, owner.handle), connector, provider)
        stack.ask("console", "agent.set", name="model", subject="", value="", reason="a test")


def choose(stack: Stack, connector: str) -> None:
    stack.ask("console", "agent.set", name="model", subject="", value=f"{connector}/small", reason="a test")


def wire(stack: Stack, connector: str, found: Counterpart) -> None:
    declare(stack, connector, kind="llm", base=f"{found.url}/v1")
    put(stack, connector, key=plant())
    with (stack.state / "prices.toml").open("a") as prices:
        prices.write(f'["{connector}/small"]\n{PRICES}')


def allowed(provided: Provided, stack: Stack) -> None:
    """The first use waits on a card; the turn says so, and where it is. Another test may have chosen another model."""
    choose(stack, provided.connector)
    said = provided.talk.say("good morning")
    if said["error"]:
        assert "card" in said["error"]
        decide(stack, provided.connector)


def test_a_provider_answers_through_the_connector_and_the_bill_is_the_ledgers(stack: Stack, provided: Provided) -> None:
    allowed(provided, stack)
    talk, provider = provided.talk, provided.provider
    until(lambda: not talk.say("good morning")["error"], 20, "the connector may be used")
    provider.bill.clear()
    said = talk.say("remember that the boat is blue")
    assert said["reply"] == "It is remembered."
    assert [each["tool"] if isinstance(each, dict) else each for each in said["tools"]] == ["remember"]
    assert Decimal(said["cost"]) == provider.cost("1.00", "2.00")
    assert provider.refused == []
    turn = said["turn_id"]

    def row() -> Any:
        found = stack.cli("spend", "--by", "turn")
        return next((each for each in found["lines"] if turn in str(each)), None)

    told = until(row, 20, "the console knows of the turn")
    assert Decimal(told["cost"]) == Decimal(said["cost"])
    stack.cli("connectors", "off", provided.connector, "--reason", "a test")
    off = talk.say("good morning")
    assert "off" in off["error"] and off["cost"] == "0", "what the connectors refused never left"
    stack.cli("connectors", "on", provided.connector, "--reason", "a test")


@pytest.mark.long
def test_a_killed_agent_leaves_one_row_of_each_and_they_are_marked(stack: Stack, provided: Provided) -> None:
    """SP-02, second half."""
    allowed(provided, stack)
    talk = provided.talk
    headers = {"Authorization": f"Bearer {talk.key}", "Accept": "text/event-stream"}
    pieces, place = threading.Event(), talk.say("good morning")["conversation_id"]

    def listen() -> None:
        body = {"text": "go on", "conversation_id": place}
        url = f"{stack.urls['workspace']}/api/v1/turns"
        try:
            with httpx2.stream("POST", url, headers=headers, json=body, timeout=60) as answer:
                for number, line in enumerate(line for line in answer.iter_lines() if line.startswith("event: text")):
                    assert line
                    if number == 6:
                        pieces.set()
        except httpx2.TransportError:
            return

    reading = threading.Thread(target=listen)
    reading.start()
    assert pieces.wait(30)
    time.sleep(1.0)  # what was produced is noted a few times a second
    os.kill(stack.pids()["agent"], signal.SIGKILL)
    reading.join(30)
    until(stack.ready, 60, "the agent is back")
    query = (
        "SELECT t.outcome, count(l.call_id) AS rows, min(l.kind) AS kind, bool_and(l.estimated) AS estimated, max(l.tokens_out) AS out"
        " FROM core.turns t LEFT JOIN core.usage_ledger l ON l.turn_id = t.turn_id AND l.purpose = 'reply'"
        f" WHERE t.conversation_id = '{place}' AND t.outcome <> 'ok' GROUP BY t.turn_id, t.outcome"
    )
    [kept] = until(lambda: stack.rows("agent", query), 30, "the turn is closed")
    assert (kept["outcome"], kept["rows"], kept["kind"], kept["estimated"]) == ("aborted", 1, "aborted", True)
    assert 6 <= kept["out"] < 600
    assert talk.say("good morning")["reply"] == "Good morning."


@pytest.mark.long
def test_the_other_interface_is_spoken_where_the_connector_speaks_it(stack: Stack, owner: Person) -> None:
    connector, talk = f"claude-{fresh_id().hex[:6]}", Talk.of(stack, owner.handle)

    def short(asked: dict[str, Any]) -> Answer:
        return Answer(["Moin."])

    provider = Scripted("anthropic", short)
    with serving(provider.handle) as found:
        declare(stack, connector, kind="llm", provider="anthropic", base=found.url)
        put(stack, connector, key=plant())
        with (stack.state / "prices.toml").open("a") as prices:
            prices.write(f'["{connector}/small"]\n{PRICES}')
        stack.ask("console", "agent.set", name="model", subject="", value=f"{connector}/small", reason="a test")
        try:
            until(lambda: "card" in talk.say("good morning")["error"], 20, "the first use waits on a card")
            decide(stack, connector)
            said = until(lambda: (answer := talk.say("good morning"))["reply"] and answer, 20, "an answer")
        finally:
            stack.ask("console", "agent.set", name="model", subject="", value="", reason="a test")
        assert said["reply"] == "Moin."
        assert provider.asked[-1]["system"]
        assert provider.refused == []
