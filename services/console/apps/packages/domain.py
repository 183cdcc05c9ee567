"""A package as a person sees and decides it. No framework."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from schemas.text import parse_json, text_fault
from schemas.work import AppDeclaration
from services.console.apps.domain import InstalledApp
from shared.errors import Conflict, Refused

CARD_LIFE = timedelta(days=7)
"""Rule 28."""
Verdict = Literal["install", "refuse"]
MAX_REASON = 500


@dataclass(frozen=True)
class Shown:
    """A package with its state (waiting, installed, refused, replaced, expired). `row`: as the store gives it, with the newest word about it."""

    slug: str
    declaration: AppDeclaration
    folder_hash: str
    state: str
    row: Mapping[Any, Any]

    @property
    def is_waiting(self) -> bool:
        return self.state == "waiting"


@dataclass(frozen=True)
class Changes:
    """What a package would change against what is installed. `opened`: columns that were internal and become shareable."""

    files: Sequence[tuple[str, str]] = ()
    tables: Sequence[str] = ()
    columns: Sequence[str] = ()
    opened: Sequence[str] = ()
    left: Sequence[str] = ()


def read_package_row(row: Any, present: datetime) -> Shown:
    expired = row["state"] == "waiting" and row["expires_at"] <= present
    declaration = AppDeclaration.model_validate(parse_json(row["declaration"]))
    return Shown(row["slug"], declaration, row["folder_hash"], "expired" if expired else row["state"], row)


def check_verdict(verdict: str) -> Verdict:
    for known in get_args(Verdict):
        if verdict == known:
            return "install" if known == "install" else "refuse"
    raise Refused("An app is decided with install or refuse.", code="verdict")


def check_reason(reason: str, *, needed: bool, what: str) -> str:
    clean = " ".join(reason.split())
    if len(clean) > MAX_REASON or text_fault(clean):
        raise Refused(f"A reason has at most {MAX_REASON} characters.", code="reason")
    if needed and not clean:
        raise Refused(f"To {what} takes a reason; it is kept.", code="reason")
    return clean


def check_waiting(shown: Shown) -> None:
    """Conflict when it waits no more."""
    if shown.is_waiting:
        return
    by = f" by {shown.row['by_name']}" if shown.row["by_name"] and shown.state in ("installed", "refused") else ""
    told = {"expired": "Nobody decided in seven days; send the folder again.", "replaced": "A newer folder was sent; decide that one."}  # fmt: skip
    raise Conflict(
        f"The app is {shown.state} already{by}. {told.get(shown.state, 'Nothing was changed.')}", code="decided"
    )


def changes(before: InstalledApp | None, shown: Shown, old: Mapping[str, str], new: Mapping[str, str]) -> Changes:
    """`old`, `new`: hashes of the files by path."""
    files = [(path, "new" if path not in old else "changed") for path in sorted(new) if old.get(path) != new[path]]
    files += [(path, "gone") for path in sorted(old.keys() - new.keys())]
    if before is None:
        return Changes(files)
    was = {
        f"{table.name}.{each.name}": each.visibility for table in before.declaration.tables for each in table.columns
    }
    now = {f"{table.name}.{each.name}": each.visibility for table in shown.declaration.tables for each in table.columns}
    had = {table.name for table in before.declaration.tables}
    added = [table.name for table in shown.declaration.tables if table.name not in had]
    fresh = [name for name in now if name not in was and name.partition(".")[0] in had]
    opened = [name for name, kept in now.items() if kept == "shareable" and was.get(name) == "internal"]
    left = [name for name in was if name not in now] if now or not before.has_code else []
    return Changes(files, added, fresh, opened, left)
