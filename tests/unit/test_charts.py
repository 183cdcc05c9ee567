"""Charts made on the server."""

from decimal import Decimal

import pytest

from shared.charts import bars, written


def test_every_bar_has_its_title_and_nothing_has_a_style() -> None:
    drawn = bars([("1 Nov", 3), ("2 Nov", 12)], "views")
    assert "<title>1 Nov: 3 views</title>" in drawn
    assert "<title>2 Nov: 12 views</title>" in drawn
    assert "style" not in drawn
    assert "highest 12 on 2 Nov" in drawn


def test_labels_are_text_whatever_they_are() -> None:
    drawn = bars([("<script>", 1)], '"onload="x')
    assert "<script>" not in drawn
    assert '"onload' not in drawn


@pytest.mark.parametrize("figure", [0, -5, 0.25, Decimal("0.000001"), 10**15])
def test_any_figure_can_be_drawn(figure: int | float | Decimal) -> None:
    assert "NaN" not in bars([("a", figure), ("b", 0)], "units")


def test_no_points_no_chart() -> None:
    assert bars([], "views") == ""


def test_the_reader_is_told_in_their_language() -> None:
    said = []

    def say(text: str, **values: object) -> str:
        said.append(text)
        return "auf Deutsch"

    assert 'aria-label="auf Deutsch"' in bars([("a", 1)], "Aufrufe", say=say)
    assert len(said) == 2


def test_figures_are_written_exactly() -> None:
    assert [written(each) for each in (1234, 0.5, Decimal("12.340000"))] == ["1,234", "0.5", "12.34"]
