"""The side-by-side difference: nothing lost, numbers right, words marked, characters that hide shown."""

from hypothesis import given
from hypothesis import strategies as st

from services.console.queue.diff import MOST_LINES, compare, whole
from services.console.rendering import seen

LINES = st.lists(st.text("ab \u00fc.", max_size=8), min_size=1, max_size=12).map("\n".join)


def side(rows: object, name: str) -> list[str]:
    return ["".join(text for _, text in getattr(row, name)) for row in rows if getattr(row, f"{name}_no")]  # type: ignore[attr-defined]


@given(LINES, LINES)
def test_both_texts_can_be_read_off_the_rows(old: str, new: str) -> None:
    found = compare(old, new, context=None)
    assert found is not None
    assert "\n".join(side(found.rows, "old")) == old
    assert "\n".join(side(found.rows, "new")) == new
    assert [row.new_no for row in found.rows if row.new_no] == list(range(1, new.count("\n") + 2))
    assert found.is_empty == (old == new)


def test_a_changed_line_marks_the_words_that_differ() -> None:
    found = compare("The vote counts at once.", "The vote counts once a day.")
    assert found is not None
    [row] = found.rows
    assert row.kind == "chg"
    assert "".join(text for marked, text in row.old if marked).strip() == "at"
    assert (found.changed, found.added, found.removed) == (1, 0, 0)


def test_lines_that_have_nothing_in_common_stand_alone() -> None:
    found = compare("alpha beta gamma", "1234 5678 9012")
    assert found is not None
    assert [row.kind for row in found.rows] == ["cut", "add"]


def test_long_stretches_without_change_are_folded() -> None:
    old = "\n".join(f"line {n}" for n in range(40))
    found = compare(old, old + "\nmore")
    assert found is not None
    gap = next(row for row in found.rows if row.kind == "gap")
    assert gap.skipped == 37
    assert len(found.rows) == 1 + 3 + 1


def test_what_is_too_long_to_compare_says_so() -> None:
    assert compare("x\n" * (MOST_LINES + 1), "y") is None
    assert len(whole("a\nb").rows) == 2


def test_characters_that_hide_are_shown_by_name_and_everything_is_escaped() -> None:
    shown = seen("a\u202eb\u200b <b>\nnext")
    assert 'title="RIGHT-TO-LEFT OVERRIDE">U+202E</mark>b' in shown
    assert "U+200B" in shown and "&lt;b&gt;\nnext" in shown
    assert "<b>" not in shown
