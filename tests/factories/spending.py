"""Processes that spend one cap together, and the provider that they spend it at.

The provider keeps the bill: what it produced of each call until its end, or until whoever asked was gone. It is also the witness of what became of a call.
A spender is a process of its own (`python -m tests.factories.spending`) that works at calls until they are used up, and may be killed at any moment.
"""

import asyncio
import json
import os
import random
import sys
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import uvloop

from schemas.outward import Owner
from services.agent.spend.domain import Call, CapReached, Estimate, Figures, Reservation
from services.agent.spend.ledger import Ledger
from services.agent.spend.prices import Prices
from services.agent.spend.usecases.close_open import Known
from shared.db import Database
from shared.errors import Conflict
from shared.ids import new_id
from shared.settings import Settings

PRICES = '["shop/m"]\ninput = "3"\noutput = "15"\n'
PIECE = 10
"""Tokens of one piece of an answer."""


@dataclass
class Provider:
    """Answers over a Unix socket: `{"ask": id, "tokens_in", "pieces", "fails"}` -> a line a piece, then what it charges; `{"what": id}` -> the bill of a call."""

    path: Path
    bill: dict[str, list[int]] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)

    async def serve(self) -> asyncio.Server:
        return await asyncio.start_unix_server(self._client, str(self.path))

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            said = json.loads(await reader.readline())
            if "what" in said:
                found = None if said["what"] in self.running else self.bill.get(said["what"], [])
                writer.write(json.dumps(found).encode() + b"\n")
            else:
                await self._answer(said, reader, writer)
            await writer.drain()
        except (ConnectionError, ValueError):
            pass
        finally:
            writer.close()

    async def _answer(self, said: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = said["ask"]
        self.bill[name] = [said["tokens_in"], 0]
        self.running.add(name)
        gone = asyncio.ensure_future(reader.read())
        try:
            for number in range(said["pieces"]):
                if gone.done() or (said["fails"] and number > said["pieces"] // 2):
                    break
                self.bill[name][1] += PIECE
                writer.write(b'"piece"\n')
                await asyncio.sleep(random.random() * 0.004)
        finally:
            self.running.discard(name)
            gone.cancel()
        writer.write(json.dumps(self.bill[name]).encode() + b"\n")


@dataclass(frozen=True)
class Job:
    """What a spender is told. `turns`: one for each of its workers, the same after a restart; `log`: a line for each thing that happened."""

    state: str
    prices: str
    provider: str
    log: str
    accounts: list[str]
    cap: str
    number: int
    workers: int
    life: float
    recovers: bool

    def turn(self, worker: int) -> UUID:
        return uuid5(NAMESPACE_OID, f"{self.log} {self.number} {worker}")


@dataclass
class Spender:
    job: Job
    db: Database
    ledger: Ledger
    left: int

    @property
    def accounts(self) -> list[Owner]:
        return [Owner(kind="user", id=each) for each in self.job.accounts]

    def say(self, **what: Any) -> None:
        """One write, so that nothing of it is lost or mixed up when this process is killed."""
        descriptor = os.open(self.job.log, os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, json.dumps({"number": self.job.number, **what}, default=str).encode() + b"\n")
        os.close(descriptor)

    async def recover(self) -> None:
        """What this process left when it was killed."""
        for worker in range(self.job.workers):
            for account in self.accounts:
                await self.ledger.settle_abandoned(account, self.job.turn(worker))

    async def work(self, worker: int) -> None:
        dice = random.Random()
        while self.left > 0:
            self.left -= 1
            await self._one(dice.choice(self.accounts), self.job.turn(worker), dice)

    async def _one(self, account: Owner, turn: UUID, dice: random.Random) -> None:
        """One call, and its retry as another one when the provider failed."""
        estimate = Estimate(dice.randrange(100, 2000), dice.randrange(PIECE, 400))
        for fails in (dice.random() < 0.05, False):
            self.say(did="try")
            try:
                held = await self.ledger.reserve(Call(new_id(), turn, account, "shop", "m", "chat", "reply"), estimate)
            except CapReached as full:
                self.say(did="refused", account=account.id, needs=full.needs, spent=full.standing.spent, reserved=full.standing.reserved, at=full.looked_at.isoformat())  # fmt: skip
                await asyncio.sleep(dice.random() * 0.02)
                return
            await self._call(held, estimate, dice, fails=fails)
            if not fails:
                return

    async def _call(self, held: Reservation, estimate: Estimate, dice: random.Random, *, fails: bool) -> None:
        outside = new_id()
        await self.ledger.note(held, Figures(), outside)
        reader, writer = await asyncio.open_unix_connection(self.job.provider)
        pieces = dice.randrange(estimate.tokens_out // PIECE + 1)
        asked = {"ask": str(outside), "tokens_in": dice.randrange(estimate.tokens_in), "pieces": pieces, "fails": fails}
        writer.write(json.dumps(asked).encode() + b"\n")
        stops_at = dice.randrange(pieces + 1) if dice.random() < 0.1 else -1
        seen, line = 0, b""
        async for line in reader:
            seen += line.startswith(b'"')
            if seen == stops_at:
                break
        writer.close()
        told = json.loads(line) if line.startswith(b"[") else await self._bill(outside)
        figures, kind = (
            Figures(told[0], told[1], estimated=seen == stops_at),
            "aborted" if fails or seen == stops_at else "settled",
        )
        await self.ledger.settle(held, figures, kind)  # type: ignore[arg-type]
        if dice.random() < 0.02:
            try:
                await self.ledger.settle(held, Figures(1, 1))
                self.say(did="settled twice", call=held.call.call_id)
            except Conflict:
                pass

    async def _bill(self, outside: UUID) -> list[int]:
        while True:
            found = await ask_bill(self.job.provider, outside)
            if found is not None:
                return found or [0, 0]
            await asyncio.sleep(0.005)


async def ask_bill(provider: str, outside: UUID) -> list[int] | None:
    """What the provider charges for a call; [] when it never came; None while it runs."""
    reader, writer = await asyncio.open_unix_connection(provider)
    writer.write(json.dumps({"what": str(outside)}).encode() + b"\n")
    found: list[int] | None = json.loads(await reader.readline())
    writer.close()
    return found


def witness(provider: str) -> Any:
    """Says what the provider knows, once the call is over there."""

    async def knows(_: Owner, outside: UUID | None) -> Known | None:
        while outside is not None:
            found = await ask_bill(provider, outside)
            if found is not None:
                return Known(left=True, figures=Figures(found[0], found[1])) if found else Known(left=False)
            await asyncio.sleep(0.01)
        return None

    return knows


def ledger_of(db: Database, job: Job) -> Ledger:
    class Cap:
        def cap_of(self, _: Owner) -> Decimal | None:
            return Decimal(job.cap)

    prices, life = Prices(Path(job.prices)), timedelta(seconds=job.life)
    return Ledger(db, Cap(), prices, life=life, knows=witness(job.provider))


async def spend(job: Job, calls: int) -> None:
    db = Database(Settings.load("agent", Path(job.state)), pool_size=2)
    await db.start()
    spender = Spender(job, db, ledger_of(db, job), calls)
    if job.recovers:
        await spender.recover()
    spender.say(did="begins")
    await asyncio.gather(*(spender.work(worker) for worker in range(job.workers)))
    await spender.ledger._lanes.drained()
    await db.stop()


async def start(job: Job, calls: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.factories.spending", json.dumps(asdict(job)), str(calls), cwd=Path(__file__).parents[2]
    )  # fmt: skip


if __name__ == "__main__":
    uvloop.run(spend(Job(**json.loads(sys.argv[1])), int(sys.argv[2])))
