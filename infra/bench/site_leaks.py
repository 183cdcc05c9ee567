"""The leak guard: how many of the real documents it marks by mistake, and how many planted internal values it finds, in altered spellings.

Northwind's tables are installed as an app whose columns are all internal; everything goes through the console and the lock as it always does.
"""

import asyncio
import csv
import io
import random
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

from infra.bench.leak_spellings import SPELLINGS
from infra.bench.report import Targets
from infra.bench.target import Say, Target
from shared.errors import Refused
from shared.ids import fresh_id
from shared.leaks.marks import marks
from shared.operator import acall

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TABLES = ("categories", "customers", "employees", "order-details", "orders", "products")
SLUG = "leakbench"
PLANTED, SEED, PORTION = 200, 11, 20
PATIENCE = 300.0
TARGETS: Targets = (
    ("documents looked through", ("leak_guard", "documents"), "", 0),
    ("documents marked by mistake", ("leak_guard", "documents_flagged"), "<=", 6),
    ("planted internal values", ("leak_guard", "planted"), ">=", 200),
    ("of them found", ("leak_guard", "planted_found"), ">=", 198),
    ("changed record → known to the lock (s)", ("leak_guard", "follows_s"), "<=", 2),
)


async def leaks(target: Target, size: float, say: Say) -> dict[str, Any]:
    """`leak_guard`. Where the real documents are not there, it has no figures and says so."""
    if not (DATA / "crm").is_dir():
        say(f"{DATA} is not there: the leak guard is not measured")
        return {}
    values = await _install(target, say)
    documents = [path.read_text("utf-8") for path in sorted((DATA / "docs").glob("*/**/*.md"))]
    say(f"{len(documents)} documents are looked through")
    flagged = await _marked(target, documents)
    rng, ways = random.Random(SEED), sorted(SPELLINGS)  # noqa: S311 - the same plants each time
    chosen = rng.sample(sorted(values), max(20, int(PLANTED * min(size, 1.0))))
    planted = [_planted(rng, documents, SPELLINGS[rng.choice(ways)](value)) for value in chosen]
    say(f"{len(planted)} internal values are planted in altered spellings")
    found = await _marked(target, planted)
    follows = await _follows(target)
    return {
        "leak_guard": {
            "documents": len(documents),
            "documents_flagged": flagged,
            "planted": len(planted),
            "planted_found": found,
            "follows_s": follows,
        }
    }


async def _install(target: Target, say: Say) -> set[str]:
    """The values that can have a fingerprint at all: what could be guessed has none (S14)."""
    rows = {name: _rows(DATA / "crm" / f"{name}.csv") for name in TABLES}
    manifest = "\n".join(
        [
            f'slug = "{SLUG}"',
            'title = "Leak guard bench"',
            'kind = "application"',
            *(_declared(name, found[0]) for name, found in rows.items()),
        ]
    )
    files = {"app.toml": b64encode(manifest.encode()).decode()}
    sent = await _ask(target, "apps.install", files=files)
    if sent["state"] != "installed":
        await _ask(target, "apps.decide", app=SLUG, verdict="install", reason="bench")
    for name, (header, *lines) in rows.items():
        await _import(target, _named(name), header, lines)
    await _settled(target, say)
    key = bytes(32)
    cells = {cell for _, *lines in rows.values() for line in lines for cell in line}
    return {cell for cell in cells if cell != "NULL" and marks(key, cell) and len(cell) < 200}


def _rows(path: Path) -> list[list[str]]:
    """Header and lines; what does not have the header's length is left out."""
    with path.open(encoding="utf-8", newline="") as stream:
        found = list(csv.reader(stream))
    return [line for line in found if len(line) == len(found[0]) and all(len(cell) < 100_000 for cell in line)]


def _declared(name: str, header: list[str]) -> str:
    columns = "\n".join(f'[[tables.columns]]\nname = "{_named(each)}"' for each in header)
    return f'[[tables]]\nname = "{_named(name)}"\n{columns}'


def _named(text: str) -> str:
    return text.replace("-", "_").lower()


async def _import(target: Target, table: str, header: list[str], lines: list[list[str]]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([[_named(each) for each in header], *lines])
    begun = await _ask(target, "records.begin", app=SLUG, table=table, file=f"{table}.csv", options={"null": "NULL"})
    piece = b64encode(out.getvalue().encode()).decode()
    await _ask(target, "records.piece", import_id=begun["import_id"], number=0, piece=piece)
    report = await _ask(target, "records.run", import_id=begun["import_id"], dry_run=False)
    if report["bad_count"]:
        raise Refused(f"{report['bad_count']} lines of {table} do not fit: {report['bad'][:3]}")


async def _settled(target: Target, say: Say) -> None:
    """Until the lock knows everything."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        state = await _ask(target, "leaks.state")
        known = await acall(target.layout.state, "bridge", "inspection.columns")
        if (
            state["columns"]
            and not state["waiting"]
            and not state["unfinished"]
            and known["columns"] == state["columns"]
        ):
            say(f"the lock knows {state['columns']} internal columns by {state['marks']} fingerprints")
            return
        await asyncio.sleep(0.2)
    raise Refused(f"the lock did not learn the internal columns within {PATIENCE:.0f} s: {known['why']}")


def _planted(rng: random.Random, documents: list[str], value: str) -> str:
    """One of the documents, with a value in a line of its own somewhere."""
    lines = rng.choice(documents).splitlines()
    lines.insert(rng.randrange(len(lines) + 1), f"\nAs we heard, {value} is concerned.\n")
    return "\n".join(lines)


async def _marked(target: Target, texts: list[str]) -> int:
    """In how many of the texts the lock found an internal value."""
    marked = 0
    for at in range(0, len(texts), PORTION):
        items = [_item(text) for text in texts[at : at + PORTION]]
        sent = await _ask(target, "items.submit", items=items)
        ids = [each["item_id"] for each in sent["items"]]
        found = (await _ask(target, "leaks.found", item_ids=ids))["found"]
        marked += len({each["item_id"] for each in found})
    return marked


def _item(text: str) -> dict[str, str]:
    named = f"leak-{fresh_id().hex[:12]}"
    body = text.partition("\n---\n")[2] if text.startswith("---\n") else text
    return {"kind": "doc", "lang": "en", "path": named, "text": f"---\ntitle: Leak guard {named}\n---\n{body}"}


async def _follows(target: Target) -> float:
    """Seconds from a record's change until the lock marks a text that holds the new value."""
    value = f"Quixotic {fresh_id().hex[:14]} Holdings"
    began = time.monotonic()
    await _import(target, "categories", ["categoryname"], [[value]])
    while not await _marked(target, [f"words {value.upper()} words"]):
        if time.monotonic() - began > PATIENCE:
            raise Refused("a new internal value never became known to the lock")
    return round(time.monotonic() - began, 2)


async def _ask(target: Target, verb: str, **said: Any) -> dict[str, Any]:
    found: dict[str, Any] = await acall(target.layout.state, "console", verb, said, PATIENCE)
    return found
