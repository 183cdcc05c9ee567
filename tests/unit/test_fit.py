"""A history that is too long for a model's window."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.agent.conversations.domain import Message, ToolCall
from services.agent.conversations.fit import fit, size_of
from services.agent.conversations.folding import read_search
from services.agent.conversations.texts import clean_call, clean_value
from shared.errors import Refused, TooLarge

AT = datetime(2026, 11, 1, tzinfo=UTC)


def history(sizes: list[tuple[int, int]]) -> list[Message]:
    """(length of the message, length of a tool's result) of each turn; the last one's message alone."""
    found: list[Message] = []
    for number, (said, result) in enumerate(sizes):
        turn = UUID(int=number + 1)
        found.append(Message(len(found) + 1, "user", f"{number} " + "x" * said, AT, turn))
        if number < len(sizes) - 1:
            call = ToolCall(str(number), "read", {}, "done", "y" * result)
            found.append(Message(len(found) + 1, "tools", "", AT, turn, (call,)))
            found.append(Message(len(found) + 1, "reply", f"answer {number}", AT, turn))
    return found


@given(
    st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 60_000)), min_size=1, max_size=30), st.integers(300, 40_000)
)
@settings(max_examples=80, deadline=None)
def test_what_fits_is_whole_turns_in_their_order_with_the_last_message(
    sizes: list[tuple[int, int]], budget: int
) -> None:
    whole = history(sizes)
    if size_of(whole[-1]) > budget - 64:
        with pytest.raises(TooLarge):
            fit([*whole[:-1], Message(999, "user", "z" * budget * 4, AT, UUID(int=999))], budget)
        return
    fitted = fit(whole, budget)
    kept = [message for message in fitted.messages if message.number]
    assert sum(map(size_of, fitted.messages)) <= budget
    assert kept[-1] == whole[-1] and [each.number for each in kept] == sorted(each.number for each in kept)
    assert len(kept) + fitted.left_out == len(whole)
    assert (fitted.left_out > 0) == any(message.number == 0 for message in fitted.messages)
    for turn in {message.turn_id for message in kept[:-1]}:
        assert [each.part for each in kept if each.turn_id == turn] in (["user", "tools", "reply"], ["user"])


def test_the_note_stands_in_the_middle_and_says_what_is_missing() -> None:
    whole = history([(50, 0)] + [(50, 900)] * 200 + [(10, 0)])
    fitted = fit(whole, 4000)
    note = next(message for message in fitted.messages if message.number == 0)
    assert fitted.messages[0].number == 1 and fitted.messages.index(note) == 3
    assert f"{fitted.left_out} earlier messages" in note.text and "2026-11-01" in note.text and "\n- 1 xxx" in note.text
    assert "about invoices" in next(
        each.text for each in fit(whole, 4000, "about invoices").messages if each.number == 0
    )


def test_text_that_cannot_be_stored_is_marked_and_typed_characters_stay() -> None:
    call = ToolCall(
        "1", "read", {"name\x00": "a"}, "done", {"path": "C:\\u0041bc \\u0000", "raw": "\x00\ud800", "n": float("nan")}
    )
    kept, flagged = clean_call(call)
    assert flagged and kept.arguments == {"name\ufffd": "a"}
    assert kept.result == {"path": "C:\\u0041bc \\u0000", "raw": "\ufffd\ufffd", "n": "nan"}
    deep: object = "x"
    for _ in range(2000):
        deep = [deep]
    assert "levels deep" in str(clean_value(deep))
    large, flagged = clean_call(ToolCall("1", "read", {}, "done", "x" * 400_000))
    assert flagged and "400002 bytes" in large.result["cut"]


def test_a_search_is_words_and_exact_texts() -> None:
    wanted = read_search('Grüße "50%_Off" ＡＢＣ')
    assert (wanted.words, wanted.exact) == (("gruesse", "abc"), ("50%_Off",))
    for bad in ("x" * 501, "\x00", "\ud800", " ".join("abcdefghijklmnopqrstuvwxyz")):
        with pytest.raises(Refused):
            read_search(bad)
