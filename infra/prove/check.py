"""One row of the matrix, and a book that an area writes its rows into."""

from dataclasses import asdict, dataclass, field
from typing import Any

OPEN = "open"
"""What a row says that this installation cannot keep, because OS users are not separated. Never counted as right (S12)."""


IN_CONTAINERS = "processes of other containers cannot be seen from here; area containers reads what each says of itself"


@dataclass(frozen=True)
class Check:
    """`actor` tried `attempt`; `expected` and `got` say what must happen and what did."""

    area: str
    actor: str
    attempt: str
    expected: str
    got: str
    ok: bool

    @property
    def is_open(self) -> bool:
        return self.got == OPEN or self.got.startswith(f"{OPEN}: ")

    @property
    def failed(self) -> bool:
        return not self.ok and not self.is_open

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Book:
    """The rows of one area."""

    area: str
    checks: list[Check] = field(default_factory=list)

    def add(self, actor: str, attempt: str, expected: str, got: str, detail: str = "") -> None:
        """`detail` is shown only when the two differ."""
        ok = expected == got
        said = got if ok or not detail else f"{got}: {detail}"
        self.checks.append(Check(self.area, actor, attempt, expected, said[:500], ok))

    def outcome(self, actor: str, attempt: str, outcome: dict[str, Any], expected: str = "refused") -> None:
        """A row for what a child process reported about one attempt."""
        self.add(actor, attempt, expected, outcome["got"], str(outcome.get("detail", "")))

    def holds(self, actor: str, attempt: str, fault: str) -> None:
        """A row that is right when there is no fault."""
        self.add(actor, attempt, "as designed", "as designed" if not fault else "not as designed", fault)

    def same(self, actor: str, attempt: str, expected: object, got: object) -> None:
        """A row that compares two values."""
        self.add(actor, attempt, str(expected)[:300], str(got)[:300])

    def open(self, actor: str, attempt: str, expected: str = "refused", why: str = "") -> None:
        """A row that depends on OS users of their own, in an installation that has none; or that cannot be tried from here, `why`."""
        self.checks.append(Check(self.area, actor, attempt, expected, f"{OPEN}: {why}" if why else OPEN, ok=False))
