"""What people and the agent say to each other stands in their conversation and nowhere else: no log, event or span holds it (S14)."""

import re

import pytest

from shared.ids import fresh_id
from tests.counterparts.server import serving
from tests.factories.people import Person, become_owner
from tests.factories.stack import Stack, running_stack
from tests.factories.talking import Talk
from tests.factories.waiting import until
from tests.paths.test_secrets import answer
from tests.paths.test_secrets_in_traces import collect_traces_at

pytestmark = pytest.mark.stack


def talk_of(stack: Stack, person: Person) -> str:
    """The mark that every message has: what is remembered, searched for, not understood, and refused."""
    mark, talk = f"mark{fresh_id().hex}", Talk.of(stack, person.handle)
    chat = talk.say(f"remember this: {mark} is my number")["conversation_id"]
    for text in (f"search my conversations for {mark}", f"{mark} what?", f"forget {mark}"):
        talk.say(text, chat)
    return mark


def logs(stack: Stack) -> str:
    return " ".join(path.read_text(errors="replace") for path in stack.layout.logs.glob("*.log*"))


def test_no_log_and_no_event_holds_what_was_said(stack: Stack, owner: Person) -> None:
    mark = talk_of(stack, owner)
    assert mark not in logs(stack)
    for service in ("agent", "bridge", "console"):
        held = f"SELECT count(*) FROM app.outbox WHERE position(convert_to('{mark}', 'UTF8') IN body) > 0"
        assert stack.value(service, held) == 0


@pytest.mark.long
@pytest.mark.timeout(300)
def test_no_span_holds_what_was_said() -> None:
    with serving(answer) as collector, running_stack(own=True) as stack:
        owner = become_owner(stack)
        collect_traces_at(stack, collector.url)
        mark = talk_of(stack, owner)

        def spans() -> str:
            return " ".join(each.body.decode("latin-1") for each in collector.seen)

        until(lambda: re.search("agent", spans()) and "console operator" in spans(), 60, "the spans have come")
        assert mark not in spans() and mark not in logs(stack)
