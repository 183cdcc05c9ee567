"""Tables that staff let the agent know of, and which one somebody means. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.text import parse_json
from schemas.work import ANY_APP, ANY_COLUMN, AppDeclaration, Table
from shared.errors import Refused

DATED = ("date", "instant")
CREATED = ("created_at", "created_on", "created", "started_at", "at", "recorded_at", "logged_at", "date", "day")
PROTECTED = re.compile(
    r"(?:connector_|call_|usage_|spend_)?(?:audit|ledger)(?:_\w+)?|calls?|crossings?|turns?|spend|audit_\w+|\w+_audit", re.IGNORECASE
)  # fmt: skip
KEPT = (
    "The platform keeps the call audit, crossings, the usage ledger and turns itself: nobody can delete from them, and no cleanup job can be about them."
    " No job was proposed."
)
_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@dataclass(frozen=True)
class Meant:
    """A table that is meant. `table` None: not one that may be known; the console looks whether it has just one of that name."""

    app: str
    name: str
    table: Table | None = None


def read_apps(declarations: Sequence[str]) -> list[AppDeclaration]:
    return [AppDeclaration.model_validate(parse_json(each.encode())) for each in declarations]


def folded(text: str) -> str:
    """A name as tables are called: lower case, ASCII, words joined by `_`."""
    spelled = text.strip().casefold().translate(_SPELLED)
    plain = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:60]


def find_table(apps: Sequence[AppDeclaration], said: str) -> Meant:
    """`said`: a table, or app and table. Refused for what is kept for good, for a name that no table could have, and when several could be meant."""
    slug, _, name = said.rpartition(".") if "." in said else ("", "", said)
    wanted = folded(name)
    if PROTECTED.fullmatch(wanted):
        raise Refused(KEPT, code="protected")
    if not wanted or not wanted[0].isalpha():
        raise Refused(f"{said!r} is no name of a table.", code="table")
    among = [each for each in apps if not slug or each.slug == slug]
    found = _matching(among, wanted)
    if len(found) > 1:
        several = ", ".join(f"{each.app}.{each.name}" for each in found)
        raise Refused(f"Several tables could be meant: {several}. Say app and table.", code="table")
    return found[0] if found else Meant(slug or ANY_APP, wanted)


def _matching(apps: Sequence[AppDeclaration], wanted: str) -> list[Meant]:
    """By its very name, else by its title, else by the last word of its name."""
    everything = [(app.slug, table) for app in apps for table in app.tables]
    for fits in (
        lambda table: table.name == wanted,
        lambda table: folded(table.title) == wanted,
        lambda table: table.name.endswith(f"_{wanted}"),
    ):
        found = [Meant(slug, table.name, table) for slug, table in everything if fits(table)]
        if found:
            return found
    return []


def date_column(meant: Meant, said: str) -> str:
    """The column that ages are counted from: what was said, or when a row came to be. Refused when the table has no date."""
    if meant.table is None:
        return folded(said) or ANY_COLUMN
    dated = [each.name for each in meant.table.columns if each.type in DATED]
    if said:
        if folded(said) in dated:
            return folded(said)
        raise Refused(f"{meant.name} has no date {said!r}; it has {', '.join(dated) or 'none'}.", code="column")
    if not dated:
        raise Refused(f"{meant.name} has no column with a date, so nothing of it is old or new.", code="column")
    return next((each for each in CREATED if each in dated), dated[0])
