"""In which order, and how many, findings go with an item."""

from collections.abc import Iterable

from schemas.bridge.v1 import Finding

MOST = 100
"""Findings that go with an item: with its content they must fit into one event (rule 5)."""
_RANK = {"block": 0, "check": 1, "note": 2}


def cut(findings: Iterable[Finding]) -> list[Finding]:
    """block first, then check, then note, each by line; at most 100, the last of which says that there are more."""
    found = sorted(findings, key=lambda each: (_RANK[each.level], each.line or 0))
    if len(found) <= MOST:
        return found
    level = found[MOST - 1].level
    return [
        *found[: MOST - 1],
        Finding(level=level, rule="more", message="There are more findings than are listed here"),
    ]
