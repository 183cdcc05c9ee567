"""The ledger at work, for infra/bench/agent_ledger.py: `fill` as the database's own user, `measure` as the agent, with the code that it runs.

`fill` makes up a day: nobody else can say when a call was. What is measured is published like any other row.
"""

import argparse
import asyncio
import json
import statistics
import time
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import uvloop

from infra.observe.doing.session import session
from infra.postgres.settings import SUPERUSER
from schemas.outward import Owner
from services.agent.spend.domain import Call, Estimate, Figures
from services.agent.spend.ledger import Ledger
from services.agent.spend.prices import Prices
from services.agent.spend.rates import Rate, Rates
from shared.db import Database
from shared.ids import new_id
from shared.settings import DATABASES, Settings

AT_ONCE, LOOKS, PORTION = 64, 200, 5000
_OWNER = "SELECT set_config('app.owner_kind', 'user', true), set_config('app.owner_id', $1, true)"
_HOLD = """
INSERT INTO core.reservations (owner_kind, owner_id, call_id, turn_id, connector, model, surface, app, purpose, at, expires_at, amount, most_in, most_out)
SELECT 'user', $1, gen_random_uuid(), gen_random_uuid(), 'bench', 'm', 'agent', 'chat', 'reply', t, t, 0.001, 1000, 100
FROM generate_series($3::int, $4::int) n, LATERAL (SELECT now() - n * interval '24 hours' / $2::int AS t) s"""
_SETTLE = """
INSERT INTO core.usage_ledger (owner_kind, owner_id, call_id, kind, tokens_in, tokens_out, cost)
SELECT 'user', $1, call_id, 'settled', 100, 10, 0.0003 FROM core.reservations WHERE owner_kind = 'user' AND owner_id = $1"""


class Bench:
    """A cap that is never reached, and one price for everything."""

    def cap_of(self, _: Owner) -> Decimal | None:
        return Decimal(1_000_000)


class BenchPrices(Prices):
    def of(self, connector: str, model: str) -> Rates | None:
        return Rates((Rate(Decimal(3), Decimal(15)),), f"{connector}/{model}")


async def fill(state: Path, account: str, rows: int) -> dict[str, Any]:
    if rows:
        async with session(state, SUPERUSER, DATABASES["agent"]) as connection:
            for first in range(1, rows + 1, PORTION):
                async with connection.transaction():
                    await connection.execute(_OWNER, account)
                    await connection.execute(_HOLD, account, rows, first, min(first + PORTION - 1, rows))
                    await connection.execute(_SETTLE, account)
            for table in ("usage_ledger", "spend_minutes", "reservations"):
                await connection.execute(f"VACUUM ANALYZE core.{table}")
    return {"ledger_rows": rows}


async def measure(state: Path, account: str, seconds: float) -> dict[str, Any]:
    db = Database(Settings.load("agent", state), pool_size=2)
    await db.start()
    try:
        ledger = Ledger(db, Bench(), BenchPrices(state), life=timedelta(minutes=10))
        who = Owner(kind="user", id=account)
        sums = await look(db, who)
        rate = await spend(ledger, who, seconds)
        return {"reserve_settle_per_s": round(rate), "ledger_sum_ms": round(max(sums, await look(db, who)), 2)}
    finally:
        await db.stop()


async def look(db: Database, who: Owner) -> float:
    """Milliseconds of the sum that the cap reads, median; the owner is set beforehand, as it is when a call is reserved."""
    took = []
    async with db.owned(who) as tx:
        for _ in range(LOOKS):
            began = time.perf_counter()
            await tx.raw.fetchrow("SELECT * FROM core.spending('user', $1, clock_timestamp() - interval '24 hours')", who.id)  # fmt: skip
            took.append(time.perf_counter() - began)
    return statistics.median(took) * 1000


async def spend(ledger: Ledger, who: Owner, seconds: float) -> float:
    """Calls a second that are reserved and settled, each caller waiting until both are on disk."""
    done, deadline = 0, time.perf_counter() + seconds

    async def caller() -> None:
        nonlocal done
        while time.perf_counter() < deadline:
            held = await ledger.reserve(Call(new_id(), new_id(), who, "bench", "m", "chat", "reply"), Estimate(1000, 100))  # fmt: skip
            await ledger.settle(held, Figures(100, 10))
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(AT_ONCE)))
    return done / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--part", choices=("fill", "measure"), required=True)
    parser.add_argument("--account", required=True)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0)
    asked = parser.parse_args()
    work = fill(asked.state, asked.account, asked.rows) if asked.part == "fill" else measure(asked.state, asked.account, asked.seconds)  # fmt: skip
    print(json.dumps(uvloop.run(work)))


if __name__ == "__main__":
    main()
