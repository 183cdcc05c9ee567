"""A cluster's elections are called at once when the supervisor sees a server of the bus end.

By itself the cluster notices 4 to 9 seconds after a leader's last word, which no setting changes (nats-server 2.15). A
vote request from a candidate that is behind everybody can never win, and makes those who are ahead stand within 0.1 to 0.8 s: it is what
a server sends that comes back with an old log. Only groups in which nobody leads are asked.
"""

import asyncio
import json
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nats.aio.client import Client
from nats.errors import Error as NatsError

from infra.nats.provision import connect
from infra.nats.topology import HUB, PACER_PUBLISHES, SYSTEM, inbox

ASK = PACER_PUBLISHES[0]
NOBODY = b"no-leads"
"""The candidate that nobody is: eight letters, as the servers' own ids have."""
SERVERS, MAJORITY = 3, 2
ANSWER_SECONDS = 0.3
STAND_SECONDS = 1.0
"""Whoever was asked stands within 0.8 s; asking again before would start that anew."""
GIVE_UP_SECONDS = 20.0


@dataclass(frozen=True)
class Group:
    """What the servers that answered say of one group of replicas. `leader`: the server that leads or may still lead; None: nobody does."""

    name: str
    term: int
    leader: str | None
    level: int


Answers = list[tuple[str, dict[str, Any]]]
"""(server, what it says of one group)."""


class Pacer:
    """Part of the supervisor. `wake` it when a server of the bus has ended, and after a start."""

    def __init__(self, ports: Sequence[int], ca: Path, seed: Path) -> None:
        self._ports, self._ca, self._seed = ports, ca, seed
        self._woken = asyncio.Event()
        self._ended: set[str] = set()
        self.asked = 0

    def wake(self, ended: str = "") -> None:
        """`ended`: the server that is gone."""
        self._ended |= {ended} - {""}
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                async with asyncio.timeout(GIVE_UP_SECONDS):
                    while not await self._settle():  # noqa: ASYNC110 - nothing tells when a server can be reached
                        await asyncio.sleep(0.05)
            except TimeoutError:
                continue  # they elect by themselves, later
            finally:
                self._ended.clear()

    async def _settle(self) -> bool:
        """Ask for elections until every group has a leader; False when nothing could be learnt."""
        try:
            client = await connect(self._ports, self._ca, self._seed, "pacer")
        except (NatsError, OSError, TimeoutError):
            return False
        try:
            asked: dict[str, float] = {}
            while leaderless := [each for each in await groups(client, self._ended) if each.leader is None]:
                await self._ask(client, leaderless, asked)
                await asyncio.sleep(0.05)
        except (NatsError, OSError, TimeoutError):
            return False
        else:
            return True
        finally:
            await client.close()

    async def _ask(self, client: Client, leaderless: list[Group], asked: dict[str, float]) -> None:
        present = asyncio.get_running_loop().time()
        for each in leaderless:
            if present - asked.get(each.name, float("-inf")) > STAND_SECONDS:
                asked[each.name] = present
                self.asked += 1
                request = struct.pack("<QQQ8s", each.term + 1, 0, 0, NOBODY)
                await client.publish(f"$NRG.V.{each.name}", request, reply=f"{inbox('pacer')}.votes")
        await client.flush()


async def groups(client: Client, ended: Collection[str] = ()) -> list[Group]:
    """Every group of replicas. TimeoutError when fewer than two servers answer: then nothing is known, and nobody may be disturbed."""
    both = await asyncio.gather(*(_account(client, account, SERVERS - len(ended)) for account in (SYSTEM, HUB)))
    return [_group(name, answers, ended) for found in both for name, answers in found.items()]


async def servers_heard(client: Client) -> list[str]:
    """The names of all servers that answer within a moment."""
    subject, found = client.new_inbox(), list[str]()
    subscription = await client.subscribe(subject)
    await client.publish(ASK, b"{}", reply=subject)
    try:
        while True:
            found.append(json.loads((await subscription.next_msg(timeout=1.0)).data)["server"]["name"])
    except (TimeoutError, NatsError):
        return found
    finally:
        await subscription.unsubscribe()


async def _account(client: Client, account: str, expected: int) -> dict[str, Answers]:
    """What each server says of each group of an account."""
    answered, found = 0, dict[str, Answers]()
    subject = client.new_inbox()
    subscription = await client.subscribe(subject)
    await client.publish(ASK, json.dumps({"account": account}).encode(), reply=subject)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            while answered < max(expected, MAJORITY):
                answer = json.loads((await subscription.next_msg(timeout=ANSWER_SECONDS)).data)
                answered += 1
                for name, group in answer["data"].get(account, {}).items():
                    found.setdefault(name, []).append((answer["server"]["name"], group))
    except (TimeoutError, NatsError):
        if answered < MAJORITY:
            raise TimeoutError("the bus's servers do not answer") from None
    finally:
        await subscription.unsubscribe()
    return found


def _group(name: str, answers: Answers, ended: Collection[str]) -> Group:
    names = {peer: about["name"] for _, group in answers for peer, about in group["peers"].items()}
    names |= {group["id"]: server for server, group in answers}
    leading = {server for server, group in answers if group["state"] == "LEADER"}
    believed = {names.get(group.get("leader", ""), "") for _, group in answers}
    silent = believed - {server for server, _ in answers} - set(ended) - {""}
    applied = [group["applied"] for _, group in answers]
    leader = next(iter(leading or silent), None)
    return Group(name, max(group["term"] for _, group in answers), leader, applied.count(max(applied)))
