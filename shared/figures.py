"""Figures as people read them. None is `—`: unknown is never zero (rule 30)."""

UNKNOWN = "—"
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def number(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


def short(value: int | None) -> str:
    """At most four characters up to a million: `9999`, `12k`."""
    return number(value) if value is None or value < 10_000 else f"{value // 1000}k"


def rate(value: float | None) -> str:
    """A second."""
    if value is None:
        return UNKNOWN
    return f"{value:.0f}" if value >= 10 or value == 0 else f"{value:.1f}"


def share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.0f}%"


def bytes_in_words(value: float | None) -> str:
    """`96M`, `1.2G`."""
    if value is None:
        return UNKNOWN
    for unit in UNITS:
        if value < 1000 or unit == UNITS[-1]:
            return f"{value:.0f}{unit[0]}" if value >= 10 or unit == "B" else f"{value:.1f}{unit[0]}"
        value /= 1024
    return UNKNOWN


def age(seconds: float | None) -> str:
    if seconds is None:
        return UNKNOWN
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {word}"
    return f"{seconds:.0f} s"
