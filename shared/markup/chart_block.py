"""A fenced block `chart`: lines `label,value`, drawn as bars with the table of its figures.

```chart
title: Ships through the lock
January,120
February,140
```
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from html import escape

from shared import charts
from shared.markup.words import words_for

MOST_CHARTS = 50
MOST_POINTS = 400
_TITLE = re.compile(r"title:\s*(.{1,200})\Z")
_PLACE = re.compile(r'<div class="chart">(\d{1,2})</div>')
_LARGEST = Decimal(10) ** 15


@dataclass(frozen=True)
class Chart:
    """(label, what was written, the figure or None where none is known) in order."""

    title: str
    points: tuple[tuple[str, str, Decimal | None], ...]


def read_chart(text: str) -> Chart | None:
    """None when it cannot be read as one: then it is shown as it was written."""
    lines = [line for line in text.splitlines() if line.strip()]
    named = _TITLE.match(lines[0].strip()) if lines else None
    points = [
        _point(row) for row in csv.reader(io.StringIO("\n".join(lines[1 if named else 0 :])), skipinitialspace=True)
    ]
    read = tuple(each for each in points if each is not None)
    if len(read) != len(points) or not 1 <= len(read) <= MOST_POINTS or all(figure is None for *_, figure in read):
        return None
    return Chart(named[1].strip() if named else "", read)


def _point(row: list[str]) -> tuple[str, str, Decimal | None] | None:
    if len(row) != 2 or not row[0].strip():
        return None
    label, written = row[0].strip()[:100], row[1].strip()
    if not written:
        return label, "", None
    try:
        figure = Decimal(written)
    except InvalidOperation:
        return None
    return (label, written, figure) if figure.is_finite() and abs(figure) < _LARGEST else None


def placed(chart: Chart, number: int) -> str:
    """What stands in the text: the table, and the place of the picture. Still to be cleaned."""
    title = f"<p><strong>{escape(chart.title, quote=False)}</strong></p>\n" if chart.title else ""
    rows = "".join(
        f'<tr><td>{escape(label, quote=False)}</td><td class="num">{escape(written or "–", quote=False)}</td></tr>\n'
        for label, written, _ in chart.points
    )
    return f'{title}<div class="chart">{number}</div>\n<table>\n<tbody>\n{rows}</tbody>\n</table>\n'


def drawn(html: str, found: Sequence[Chart], lang: str) -> str:
    """Cleaned HTML with the charts in their places. No author can write such a place: classes are taken from their tags, and a quote in an
    attribute is never bare."""
    if not found:
        return html
    words = words_for(lang)

    def svg(place: re.Match[str]) -> str:
        number = int(place[1])
        if number >= len(found):
            return ""
        chart = found[number]
        points = [(label, figure) for label, _, figure in chart.points if figure is not None]
        what = chart.title or words["chart"]
        told = f"{what}: {points[0][0]} – {points[-1][0]}"
        return f'<div class="chart">{charts.bars(points, "", say=lambda text, **values: told)}</div>'

    return _PLACE.sub(svg, html)
