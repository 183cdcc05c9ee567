"""The proof of the cap: processes that spend together, killed at random, at a provider that keeps the bill."""

import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from schemas.outward import Owner
from services.agent.spend.sweep import Sweep
from services.agent.tables import app
from shared.db import Database, create_missing
from shared.ids import fresh_id
from shared.testing.servers import Servers
from tests.factories import spending
from tests.factories.spending import PRICES, Job, Provider
from tests.factories.waiting import until

Row = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """Every second of the killed processes does not look at what it left, if `life` is short enough to wait for."""

    accounts: int
    cap: str
    calls: int
    processes: int
    workers: int
    kills: int
    life: float = 600

    @property
    def quota(self) -> int:
        return self.calls // self.processes


SHORT = Size(accounts=3, cap="0.25", calls=400, processes=2, workers=16, kills=1)
WHOLE = Size(accounts=20, cap="2.5", calls=20_000, processes=4, workers=16, kills=25, life=30)


def happened(job: Job, what: str) -> list[Row]:
    return [each for each in map(json.loads, Path(job.log).read_text().splitlines()) if each["did"] == what]


async def run(servers: Servers, folder: Path, size: Size) -> tuple[Job, Provider]:
    """Everything is over when this returns."""
    (folder / "prices.toml").write_text(PRICES)
    await (await opened(servers)).stop()
    provider, log = Provider(folder / "provider.sock"), folder / "log"
    log.touch()
    people = [str(fresh_id()) for _ in range(size.accounts)]
    base = Job(str(servers.state), str(folder), str(provider.path), str(log), people, size.cap, 0, size.workers, size.life, recovers=True)  # fmt: skip
    jobs = [replace(base, number=number) for number in range(size.processes)]
    async with await provider.serve():
        running = [await spending.start(each, size.quota) for each in jobs]
        for kill in range(size.kills):
            due = (kill + random.random()) * size.calls / (size.kills + 1)
            await asyncio.to_thread(
                until, lambda due=due: len(happened(base, "try")) >= due, 600, "calls are made", 0.1
            )
            number = random.randrange(size.processes)
            if running[number].returncode is None:
                await kill_and_start(running, replace(jobs[number], recovers=size.life == 600 or kill % 2 == 0), size)
        assert [await each.wait() for each in running] == [0] * size.processes
        await close_the_rest(servers, base, size)
    return base, provider


async def kill_and_start(running: list[asyncio.subprocess.Process], job: Job, size: Size) -> None:
    running[job.number].kill()
    await running[job.number].wait()
    tried = sum(each["number"] == job.number for each in happened(job, "try"))
    running[job.number] = await spending.start(job, max(size.quota - tried, 0))


async def close_the_rest(servers: Servers, job: Job, size: Size) -> None:
    """What nobody looked at expires, and the sweep of any process closes it."""
    db = await opened(servers)
    try:
        sweep = Sweep(db, spending.ledger_of(db, job).expire)
        deadline = asyncio.get_running_loop().time() + (0 if size.life == 600 else size.life + 2)
        while await still_open(db, job) and asyncio.get_running_loop().time() < deadline:
            await sweep.once()
            await asyncio.sleep(0.5)
        assert await still_open(db, job) == 0, "a reservation is stuck"
    finally:
        await db.stop()


async def opened(servers: Servers) -> Database:
    db = Database(servers.settings("agent"), pool_size=2)
    await db.start()
    await create_missing(db, app)
    return db


async def rows(db: Database, job: Job, table: str = "usage_ledger") -> list[Row]:
    found: list[Row] = []
    for each in job.accounts:
        async with db.owned(Owner(kind="user", id=each)) as tx:
            found += [dict(row.items()) for row in await tx.raw.fetch(f"SELECT * FROM core.{table}")]
    return found


async def still_open(db: Database, job: Job) -> int:
    return len(await rows(db, job, "reservations"))


def never_above(ledger: Iterable[Row], cap: Decimal) -> Decimal:
    """The most that ever counted, by the ledger's own history of one account."""
    steps = [(row["at"], row["reserved"]) for row in ledger]
    steps += [(row["settled_at"], (row["cost"] or Decimal(0)) - row["reserved"]) for row in ledger]
    counted = highest = Decimal(0)
    for _, change in sorted(steps):
        counted += change
        highest = max(highest, counted)
    assert highest <= cap, f"{highest} counted under a cap of {cap}"
    return highest


def false_refusals(ledger: list[Row], refused: Iterable[Row], cap: Decimal) -> int:
    """How many would have fitted with what was spent and reserved then; also checks that what a refusal says is what the history says.

    Calls of one transaction are looked at after another: those that were taken before this one in it count for it.
    """
    false = 0
    for each in refused:
        moment, said_spent, said_held, needs = datetime.fromisoformat(each["at"]), *(Decimal(each[name]) for name in ("spent", "reserved", "needs"))  # fmt: skip
        spent = sum((row["cost"] or 0 for row in ledger if row["settled_at"] < moment), Decimal(0))
        held = sum((row["reserved"] for row in ledger if row["at"] < moment <= row["settled_at"]), Decimal(0))
        taken = [row["reserved"] for row in sorted(ledger, key=lambda row: row["at"]) if row["at"] >= moment]
        assert spent == said_spent
        while held < said_held:
            held += taken.pop(0)
        assert held == said_held
        false += spent + held < cap and spent + held + needs <= cap
    return false


async def prove(servers: Servers, folder: Path, size: Size) -> str:
    job, provider = await run(servers, folder, size)
    db = await opened(servers)
    ledger = await rows(db, job)
    async with db.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")
    await db.stop()
    assert not happened(job, "settled twice")
    by_account, refused = defaultdict(list), defaultdict(list)
    for row in ledger:
        by_account[row["owner_id"]].append(row)
    for each in happened(job, "refused"):
        refused[each["account"]].append(each)
    cap = Decimal(size.cap)
    highest = max(never_above(each, cap) for each in by_account.values())
    wrong = sum(false_refusals(by_account[account], found, cap) for account, found in refused.items())
    assert wrong == 0, f"{wrong} calls were refused that would have fitted"
    billed = sum((Decimal(3 * tokens[0] + 15 * tokens[1]) / 10**6 for tokens in provider.bill.values()), Decimal(0))
    assert sum((row["cost"] or 0 for row in ledger), Decimal(0)) == billed
    assert len(ledger) >= len(provider.bill) and len({row["call_id"] for row in ledger}) == len(ledger)
    kinds = {kind: sum(row["kind"] == kind for row in ledger) for kind in ("settled", "aborted", "expired")}
    return f"{len(happened(job, 'try'))} tries, {kinds}, {sum(map(len, refused.values()))} refused, none falsely; highest {highest} of {cap}; bill {billed}"


async def test_the_cap_holds_and_the_bill_is_the_ledger(servers: Servers, tmp_path: Path) -> None:
    told = await prove(servers, tmp_path, SHORT)
    assert "none falsely" in told and " 0 refused" not in told


@pytest.mark.long
async def test_the_cap_holds_over_twenty_thousand_calls(servers: Servers, tmp_path: Path) -> None:
    print(await prove(servers, tmp_path, WHOLE))
