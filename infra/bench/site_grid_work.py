"""The grid at work, for infra/bench/site_grid.py: a table made up by the console's own role, its pages asked for over HTTP, a file imported by the console's code."""

import argparse
import json
import secrets
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import uvloop

from infra.bench.approvals import percentile
from infra.bench.http import Connection
from schemas.text import sha256
from schemas.work import AppDeclaration, Column, Table
from services.console.apps.declared import place
from services.console.apps.domain import InstalledApp
from services.console.apps.usecases.create_plain import create_plain
from services.console.imports.domain import Options
from services.console.imports.store import PIECE
from services.console.imports.usecases.import_file import import_file
from services.console.imports.usecases.send_file import add_piece, begin_file
from services.console.people.domain import OPERATOR
from shared.db import Database
from shared.ids import new_id
from shared.settings import Settings
from shared.signing import SigningKey

TRIES = 3
PORTION = 50_000
INDEXED = ("country", "amount", "placed", "seen", "shop")
SHAREABLE: Any = {"visibility": "shareable"}
BIG = Table(
    name="sales",
    key=("number",),
    columns=(
        Column(name="number", type="integer", **SHAREABLE),
        Column(name="name", **SHAREABLE),
        Column(name="country", index=True, **SHAREABLE),
        Column(name="amount", type="decimal", index=True, **SHAREABLE),
        Column(name="placed", type="date", index=True, **SHAREABLE),
        Column(name="seen", type="instant", index=True, **SHAREABLE),
        Column(name="shop", index=True, **SHAREABLE),
        Column(name="open", type="boolean", **SHAREABLE),
        Column(name="note", **SHAREABLE),
    ),
)
FILE = Table(
    name="contacts",
    key=("code",),
    columns=(Column(name="code"), Column(name="name"), Column(name="city", index=True), Column(name="credit", type="decimal"), Column(name="since", type="date"), Column(name="active", type="boolean")),
)  # fmt: skip
_FILL = """INSERT INTO {} (number, name, country, amount, placed, seen, shop, open, note)
SELECT n, 'Customer ' || n, (ARRAY['Austria','Brazil','Denmark','France','Germany','Ireland','Mexico','Norway','Spain','Sweden'])[1 + n % 10],
  CASE WHEN n % 20 = 0 THEN NULL ELSE round((random() * 10000)::numeric, 2) END, date '2015-01-01' + (n % 4000), timestamptz '2015-01-01' + n * interval '5 minutes',
  'shop-' || lpad((n % 5000)::text, 4, '0'), n % 3 = 0, 'Sent by the usual way, row ' || n FROM generate_series($1::int, $2::int) n"""
DEEP = (("amount", ["5000.00", "1"]), ("-placed", ["2018-06-01", "5"]), ("number", ["650000"]))
ASKED = (
    *(f"?sort={sign}{name}" for name in ("number", *INDEXED) for sign in ("", "-")),
    "?f=country:is:Norway", "?f=country:is:Norway&sort=-amount", "?f=country:starts:Sp", "?f=amount:more:9990", "?f=amount:empty:", "?f=amount:less:1",
    "?f=placed:is:2020-02-29", "?f=placed:from:2025-12-01", "?f=seen:less:2015-01-02", "?f=seen:more:2016-01-01", "?f=shop:is:shop-4999", "?f=shop:starts:shop-49",
    "?f=country:is:Spain&f=amount:from:5000", "?f=number:more:900000", "?f=number:is:777777",
    *(f"?sort={order}&after={quote(json.dumps(at))}" for order, at in DEEP),
)  # fmt: skip


async def make(db: Database, settings: Settings, rows: int) -> InstalledApp:
    declared = AppDeclaration(
        slug=f"bench-{secrets.token_hex(3)}", title="Bench", kind="application", tables=(BIG, FILE)
    )
    async with db.transaction() as tx:
        app = await create_plain(tx, declared, OPERATOR, SigningKey.load(settings.keys / "decision.key"))
    connection = await db.connect()
    await connection.execute("SET statement_timeout = 0")
    for first in range(1, rows + 1, PORTION):
        await connection.execute(_FILL.format(place(app, "sales")), first, min(first + PORTION - 1, rows), timeout=300)
    await connection.execute(f"VACUUM ANALYZE {place(app, 'sales')}", timeout=900)
    await connection.close()
    return app


async def sign_in(db: Database) -> bytes:
    """The header of somebody who is signed in."""
    person, token = new_id(), secrets.token_urlsafe(32)
    async with db.transaction() as tx:
        await tx.raw.execute("INSERT INTO app.people (id, handle, name, role, created_at, created_by) VALUES ($1, $2, 'Bench', 'member', now(), 'bench')", person, f"bench-{person.hex}")  # fmt: skip
        await tx.raw.execute("INSERT INTO app.sessions (token_hash, person_id, created_at, seen_at) VALUES ($1, $2, now(), now())", sha256(token.encode()), person)  # fmt: skip
    return f"Cookie: console={token}; __Host-console={token}\r\n".encode()


async def look(settings: Settings, app: InstalledApp, cookie: bytes) -> dict[str, Any]:
    """Milliseconds of each question, the whole page over HTTP."""
    host = settings.url.split("//", 1)[1].encode()
    slowest, times = ("", 0.0), []
    async with Connection((settings.host, settings.port)) as connection:
        for number in range(TRIES + 1):
            for asked in ASKED:
                path = f"/applications/{app.slug}/sales{asked}"
                began = time.perf_counter()
                status, _ = await connection.send(
                    b"GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (path.encode(), host, cookie)
                )
                took = 1000 * (time.perf_counter() - began)
                if status != 200:
                    raise RuntimeError(f"{path} answered {status}")
                if number:  # the first round warms what a page of daily use finds warm
                    times.append(took)
                    slowest = max(slowest, (asked, took), key=lambda each: each[1])
    return {"grid_1m_ms_p99": round(percentile(times, 0.99), 1), "grid_1m_ms_p50": round(percentile(times, 0.5), 1), "grid_slowest": slowest[0]}  # fmt: skip


async def bring(db: Database, app: InstalledApp, rows: int) -> float:
    """Seconds from the first piece of the file to the last row."""
    lines = (
        f'C{n},"Name {n}, Söhne",City {n % 900},{n % 1000}.5,2020-01-{1 + n % 28:02},true\r\n' for n in range(rows)
    )
    raw = ("code,name,city,credit,since,active\r\n" + "".join(lines)).encode()
    began = time.perf_counter()
    async with db.transaction() as tx:
        sent = await begin_file(tx, app, "contacts", OPERATOR, "contacts.csv", Options())
        for number, start in enumerate(range(0, len(raw), PIECE)):
            await add_piece(tx, sent, OPERATOR, number, raw[start : start + PIECE])
    report = await import_file(db, sent, OPERATOR, dry_run=False)
    if report.added != rows:
        raise RuntimeError(f"{report.added} rows were added: {report.bad[:3]}")
    return time.perf_counter() - began


async def measure(settings: Settings, rows: int, imported: int) -> dict[str, Any]:
    db = Database(settings, pool_size=2)
    await db.start()
    try:
        app = await make(db, settings, rows)
        found = await look(settings, app, await sign_in(db))
        took = await bring(db, app, imported)
        return found | {"grid_rows": rows, "import_100k_s": round(took, 2), "import_rows": imported}
    finally:
        await db.stop()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--import", type=int, required=True, dest="imported")
    given = parser.parse_args()
    found = uvloop.run(measure(Settings.load("console", given.state), given.rows, given.imported))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
