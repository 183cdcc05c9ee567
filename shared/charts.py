"""Charts as SVG, made on the server: one axis from zero, a title per bar, no style attribute (look: Chart).

A chart never stands alone: who draws one puts the table with its figures beside it.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal

from markupsafe import Markup

Figure = int | float | Decimal
Say = Callable[..., str]
"""`say(text, **values)`: the text in the reader's language, its values put in."""

WIDTH = 630
_HEIGHT, _LEFT, _GROUND = 104, 34, 84
_BAR = Markup('<rect{} x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}: {} {}</title></rect>')
_TOLD = "{what} from {first} to {last}, highest {highest} on {peak}; the table beside holds the figures"


def english(text: str, **values: object) -> str:
    return text.format(**values)


def bars(
    points: Sequence[tuple[str, Figure]],
    what: str,
    bad: Sequence[Figure] = (),
    width: int = WIDTH,
    say: Say = english,
    write: Callable[[Figure], str] | None = None,
) -> Markup:
    """`points` are (label, figure), in the order of the axis; figures under zero are drawn as zero. `what` they count.

    `bad` figures are drawn over them in the tone of trouble. `width` in pixels is about what the chart will have, so
    that its text keeps its size. `write` writes figures as the reader's language does. Empty when there are no points.
    """
    put = write or written
    if not points:
        return Markup("")
    top = _round_top(max(figure for _, figure in points))
    step = (width - _LEFT) / len(points)
    drawn = [
        _bar("", index, step, top, label, (figure, put(figure)), what) for index, (label, figure) in enumerate(points)
    ]
    trouble = say("refused or failed")
    drawn += [
        _bar(' class="bad"', index, step, top, points[index][0], (figure, put(figure)), trouble)
        for index, figure in enumerate(bad)
        if figure
    ]
    label, highest = max(points, key=lambda point: point[1])
    told = say(_TOLD, what=what, first=points[0][0], last=points[-1][0], highest=put(highest), peak=label)
    return Markup('<svg class="bars" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}</svg>').format(
        width, _HEIGHT, told, _axis((top, put), points[0][0], points[-1][0], width - 4), Markup("").join(drawn)
    )


def written(figure: Figure) -> str:
    """`1,234`; what is no whole number keeps up to six digits after the point."""
    if figure == int(figure):
        return f"{int(figure):,}"
    return f"{Decimal(str(figure)):,.6f}".rstrip("0")


def _round_top(highest: Figure) -> int:
    """The next 2, 4, 6, 8, 10 … of its size: an axis whose half is a whole number."""
    whole = max(-int(-highest // 1), 0)
    size = 2 * int("1" + "0" * max(len(str(whole)) - 2, 0))
    return max(-(-whole // size) * size, 2)


def _bar(kind: str, index: int, step: float, top: int, label: str, figure: tuple[Figure, str], what: str) -> Markup:
    height = max(80 * float(figure[0]) / top, 0)
    width = max(step * 0.8, 1)
    return _BAR.format(Markup(kind), _LEFT + index * step, _GROUND - height, width, height, label, figure[1], what)  # noqa: S704 - one of two constants


def _axis(scale: tuple[int, Callable[[Figure], str]], first: str, last: str, end: int) -> Markup:
    top, put = scale
    lines = Markup("").join(
        Markup('<line x1="30" x2="{3}" y1="{0}" y2="{0}"/><text x="0" y="{1}">{2}</text>').format(
            y + 0.5, y + 4, label, end
        )
        for y, label in ((_GROUND, "0"), (_GROUND - 40, put(top // 2)), (_GROUND - 80, put(top)))
    )
    if first == last:
        return lines + Markup('<text x="{}" y="100">{}</text>').format(_LEFT, first)
    return lines + Markup('<text x="{}" y="100">{}</text><text x="{}" y="100" text-anchor="end">{}</text>').format(
        _LEFT, first, end, last
    )
