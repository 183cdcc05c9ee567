"""How a conversation looks: money and times in words, tools as lines, messages in groups."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from services.agent.chat.callers import turn_and_number
from services.agent.chat.showing import age, blocks_of, clock, dollars, excerpt, meter_of, tool_line
from services.agent.conversations.domain import Message, ToolCall
from services.agent.spend.domain import Standing

NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)
CONSOLE = "http://localhost:8420"


@pytest.mark.parametrize(
    ("amount", "said"),
    [("0", "$0.00"), ("0.031", "$0.031"), ("0.00012", "$0.00012"), ("0.00000004", "$0.00000004"), ("0.1", "$0.10"), ("0.0999", "$0.10"),
     ("4.98", "$4.98"), ("1234.567", "$1234.57"), ("0.000000000000000000", "$0.00")],
)  # fmt: skip
def test_money_is_said_with_as_many_digits_as_it_needs(amount: str, said: str) -> None:
    assert dollars(Decimal(amount)) == said
    assert dollars(None) == "not known"


def test_a_meter_says_what_is_held_when_it_frees_up_and_that_it_is_full() -> None:
    standing = Standing(
        Decimal("5.00"), Decimal("4.98"), Decimal("0.02"), NOW + timedelta(minutes=80), Decimal("0.40"), 2
    )
    meter = meter_of(standing, None, "Europe/Berlin", NOW, guests=False)
    assert (meter.conversation, meter.spent, meter.cap, meter.reserved) == ("not known", "$4.98", "$5.00", "$0.02")
    assert (meter.frees, meter.frees_said, meter.full, meter.unknown) == ("$0.40", "17:20", True, 2)
    assert (meter.spent_figure, meter.cap_figure) == ("5.00", "5.00")
    free = meter_of(
        Standing(None, Decimal(7), Decimal(0), None, Decimal(0)), Decimal(0), "Nowhere/Such", NOW, guests=True
    )
    assert (free.cap, free.full, free.frees, free.label) == (None, False, "", "Guests, last 24 hours")
    shut = meter_of(
        Standing(Decimal(0), Decimal(0), Decimal(0), None, Decimal(0)), Decimal(0), "UTC", NOW, guests=False
    )
    assert shut.full and shut.cap == "$0.00" and shut.cap_figure == "1"


def test_times_are_the_owner_s() -> None:
    assert clock(NOW, "Europe/Berlin", NOW) == "16:00"
    assert clock(NOW + timedelta(hours=9), "Europe/Berlin", NOW) == "Tue 01:00"
    ages = [age(NOW - timedelta(seconds=each), NOW) for each in (-5, 59, 60, 7200, 3 * 86400, 90 * 86400)]
    assert ages == ["now", "now", "1 min ago", "2 h ago", "3 days ago", "2026-09-01"]


def test_a_card_is_a_link_to_the_console_and_to_nowhere_else() -> None:
    def line(result: object, state: str = "waiting") -> str:
        return tool_line(ToolCall("1", "remember", {}, state, result, "x"), CONSOLE).card  # type: ignore[arg-type]

    assert line({"waiting": "Not done.", "card": f"{CONSOLE}/actions/7"}) == f"{CONSOLE}/actions/7"
    assert line(f"Waits: {CONSOLE}/cards/7.") == f"{CONSOLE}/cards/7"
    assert line({"error": f"Waits: {CONSOLE}/cards/7. Ask again later"}, "refused") == f"{CONSOLE}/cards/7"
    assert line({"card": f"{CONSOLE}/actions/7"}, "done") == ""
    for other in (
        "https://evil.example/",
        f"{CONSOLE}.evil.example/x",
        f"{CONSOLE}@evil.example/",
        "javascript:alert(1)",
    ):
        assert line({"card": other}) == "", other


def test_what_the_agent_did_and_said_in_one_turn_stands_together() -> None:
    turn, at = uuid4(), NOW
    call = ToolCall("1", "look", {"at": "x" * 9000}, "interrupted")
    messages = [
        Message(1, "user", "hi", at, turn), Message(2, "tools", "", at, turn, (call,)), Message(3, "reply", "a", at, turn, aborted=True),
        Message(4, "note", "approved", at), Message(5, "reply", "", at, uuid4(), aborted=True),
    ]  # fmt: skip
    found = blocks_of(messages, CONSOLE)
    assert [each.kind for each in found] == ["me", "agent", "note", "agent"]
    assert [kind for kind, _ in found[1].parts] == ["tools", "reply", "cut"]
    [line] = found[1].parts[0][1]
    assert (line.sign, line.said, line.result) == ("✕", "interrupted", "") and "more characters" in line.arguments
    assert found[3].parts == [("cut", "Stopped before an answer came.")]


def test_only_a_turn_and_a_number_name_a_place_in_a_stream() -> None:
    turn = uuid4()
    assert turn_and_number(f"{turn}.12") == (turn, 12)
    for wrong in ("", "x", f"{turn}", f"{turn}.", f"{turn}.-1", f"{turn}.x", "x.1", f"{turn}.²", f"{turn}.99999999999"):
        assert turn_and_number(wrong) is None, wrong


def test_a_search_shows_the_part_with_the_words() -> None:
    long = (
        "This is what I understand:\n\n"
        + "- one thing and another\n" * 20
        + "- Invoices go to accounting\n"
        + "- more\n" * 100
    )
    shown = excerpt(long, '"invoices go"')
    assert shown.startswith("… ") and "Invoices go to accounting" in shown[:80] and len(shown) <= 302
    assert excerpt("Invoices\ngo", "go") == "Invoices go"
    assert excerpt("Nothing of it", "elsewhere") == "Nothing of it"
