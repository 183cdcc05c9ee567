"""Asking the connectors of a running stack with a service's real key, and what the audit says about it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

from schemas.outward import Asker as AskerName
from schemas.outward import Delegation, Owner
from schemas.statements import Signed
from shared.asking.asker import Asker
from shared.bus.connection import Connection
from shared.clock import now
from shared.health import Health
from shared.ids import fresh_id
from shared.settings import Settings
from shared.signing import SigningKey
from tests.factories.stack import Stack, apart
from tests.factories.waiting import until

T = TypeVar("T")
OWNER = Owner(kind="user", id="7")


def asking(stack: Stack, use: Callable[[Asker], Awaitable[T]], service: AskerName = "agent") -> T:
    """What `use` returns, given an asker with that service's key on a connection of its own."""

    async def work() -> T:
        connection = Connection(Settings.load(service, stack.state), Health("test"))
        asker = Asker(service, connection)
        await connection.start()
        await asker.start()
        try:
            return await use(asker)
        finally:
            await asker.stop()
            await connection.stop()

    return apart(lambda: asyncio.run(work()))


def declare(stack: Stack, name: str, *, kind: str = "http", enabled: bool = True, **settings: Any) -> None:
    """In force when this returns. Loopback may be reached."""
    wanted = {"name": name, "kind": kind, "enabled": enabled, "settings": {"addresses": ["127.0.0.1"], **settings}}
    stack.ask("console", "connectors.declare", **wanted, reason="a test")


def decide(stack: Stack, connector: str, verdict: str = "allow", seconds: float = 20) -> None:
    """Every waiting card of that connector, once there is one."""
    for card in until(lambda: _pending(stack, connector), seconds, f"a card for {connector}"):
        stack.ask("console", "cards.decide", card=card["card_id"], verdict=verdict, reason="a test")


def grant(stack: Stack, connector: str, operation: str = "get", service: AskerName = "agent", **arguments: Any) -> None:
    """That service may do this from now on: it asks, and a person allows it."""

    async def ask(asker: Asker) -> None:
        answer = asyncio.ensure_future(asker.call(connector, operation, arguments or {"path": "/granted"}, wait_s=20))
        await asyncio.to_thread(decide, stack, connector)
        await answer

    asking(stack, ask, service)


def delegation(
    stack: Stack,
    *operations: str,
    owner: Owner = OWNER,
    audience: AskerName = "agent",
    minutes: float = 10,
    signed_by: str = "identity",
    instruction_hash: str | None = None,
    card_id: UUID | None = None,
) -> Signed:
    """As the console issues it; or as it does not."""
    held = (stack.layout.keys / "console").glob(f"{signed_by}*.key")  # a rotated decision key has another name
    key, at = SigningKey.load(next(held)), now()
    said = Delegation(
        key_id=key.key_id, delegation_id=fresh_id(), owner=owner, audience=audience, operations=operations,
        issued_at=at - timedelta(hours=1) if minutes < 0 else at, expires_at=at + timedelta(minutes=minutes),
        card_id=card_id, instruction_hash=instruction_hash,
    )  # fmt: skip
    return key.sign(said)


def entries(stack: Stack, connector: str = "", **fields: Any) -> list[dict[str, Any]]:
    """The audit's, oldest first: of a connector, with these fields."""
    found = stack.rows("connectors", "SELECT convert_from(entry, 'UTF8') AS entry FROM core.call_audit ORDER BY seq")
    read = [json.loads(row["entry"]) for row in found]
    wanted = {**({"connector": connector} if connector else {}), **fields}
    return [entry for entry in read if wanted.items() <= entry.items()]


def _pending(stack: Stack, connector: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stack.ask("console", "cards.list", state="pending")["cards"]
    return [card for card in found if card["connector"] == connector]
