"""Characters that a reviewer cannot see (S13)."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from schemas.bridge.v1 import Finding
from shared.markup import invisible

_HARMLESS = {"SOFT HYPHEN"}
"""It says where a long word may be broken; typography uses it."""


def check(text: str) -> Iterator[Finding]:
    """One finding for each line with invisible, control or bidi characters; names and counts them."""
    for line, found in groupby(invisible(text), key=lambda each: each[0]):
        listed = list(found)
        names = Counter(name for _, _, name in listed)
        shown = ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in names.most_common(5))
        yield Finding(
            level="note" if set(names) == _HARMLESS else "check",
            rule="invisible",
            message=f"Invisible or direction-changing characters from column {listed[0][1]}: {shown}",
            line=line,
        )
