"""Bar charts as SVG, made on the server: one axis from zero, a title per bar, no style attribute (look: Chart)."""

from collections.abc import Sequence

from markupsafe import Markup

_WIDTH, _HEIGHT, _LEFT, _GROUND = 630, 104, 34, 84
_BAR = Markup('<rect{} x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}: {} {}</title></rect>')


def bars(points: Sequence[tuple[str, int]], what: str, bad: Sequence[int] = (), width: int = _WIDTH) -> Markup:
    """`points` are (label, figure), oldest first; `bad` figures are drawn over them in the tone of trouble.

    `width` in pixels is about what the chart will have, so that its text keeps its size.
    """
    if not points:
        return Markup("")
    top = _round_top(max(figure for _, figure in points))
    step = (width - _LEFT) / len(points)
    drawn = [_bar("", index, step, top, label, figure, what) for index, (label, figure) in enumerate(points)]
    drawn += [
        _bar(' class="bad"', index, step, top, points[index][0], figure, "refused or failed")
        for index, figure in enumerate(bad)
        if figure
    ]
    peak = max(points, key=lambda point: point[1])
    told = f"{what} from {points[0][0]} to {points[-1][0]}, highest {peak[1]:,} on {peak[0]}; the table beside holds the figures"
    return Markup('<svg class="bars" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}</svg>').format(
        width, _HEIGHT, told, _axis(top, points[0][0], points[-1][0], width - 4), Markup("").join(drawn)
    )


def _round_top(highest: int) -> int:
    """The next 2, 4, 6, 8, 10 … of its size: an axis whose half is a whole number."""
    size = 2 * int("1" + "0" * max(len(str(highest)) - 2, 0))
    return max(-(-highest // size) * size, 2)


def _bar(kind: str, index: int, step: float, top: int, label: str, figure: int, what: str) -> Markup:
    height = 80 * figure / top
    width = max(step * 0.8, 1)
    return _BAR.format(Markup(kind), _LEFT + index * step, _GROUND - height, width, height, label, f"{figure:,}", what)  # noqa: S704 - one of two constants


def _axis(top: int, first: str, last: str, end: int) -> Markup:
    lines = Markup("").join(
        Markup('<line x1="30" x2="{3}" y1="{0}" y2="{0}"/><text x="0" y="{1}">{2}</text>').format(
            y + 0.5, y + 4, label, end
        )
        for y, label in ((_GROUND, "0"), (_GROUND - 40, f"{top // 2:,}"), (_GROUND - 80, f"{top:,}"))
    )
    if first == last:
        return lines + Markup('<text x="{}" y="100">{}</text>').format(_LEFT, first)
    return lines + Markup('<text x="{}" y="100">{}</text><text x="{}" y="100" text-anchor="end">{}</text>').format(
        _LEFT, first, end, last
    )
