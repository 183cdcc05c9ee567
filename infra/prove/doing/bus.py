"""Attempts on the bus with a service's own key: {"as", "op", …}.

`publish` and `subscribe` take `subjects` (all must be refused to count as refused), `payload`, `reply`, `headers`, `queue`. `ask` sends one request and
returns the answer as `value`. Everything of one service goes out in one go; the server answers violations before it answers the ping.
"""

import asyncio
from itertools import groupby
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client
from nats.errors import Error as NatsError

from shared.bus.connection import pinned
from shared.settings import Settings


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for service, group in groupby(attempts, key=lambda each: each["as"]):
        found += await _as(Settings.load(service, state), list(group))
    return found


async def _as(settings: Settings, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    said: list[str] = []

    async def heard(error: Exception) -> None:
        said.append(str(error).lower())

    try:
        client = await nats.connect(
            settings.nats_urls, tls=pinned(settings), tls_hostname="localhost", tls_handshake_first=True, nkeys_seed=str(settings.bus_seed), name="prove",
            inbox_prefix=f"_INBOX_{settings.service}".encode(), error_cb=heard, allow_reconnect=False, connect_timeout=20,
        )  # fmt: skip
    except (NatsError, OSError, TimeoutError) as error:
        return [{"got": "error", "detail": f"no connection: {error}"} for _ in attempts]
    try:
        answers = [await _send(client, each) for each in attempts]
        await client.flush(40)
        await _heard_out(attempts, said)
    finally:
        await client.close()
    return [answer or _judge(each, said) for each, answer in zip(attempts, answers, strict=True)]


async def _heard_out(attempts: list[dict[str, Any]], said: list[str]) -> None:
    """The last violations are handled by tasks of the client's, which on a busy machine come late."""
    quiet = [each for each in attempts if each["op"] != "ask"]
    for _ in range(10):
        if all(_judge(each, said)["got"] == "refused" for each in quiet):
            return
        await asyncio.sleep(0.05)


async def _send(client: Client, each: dict[str, Any]) -> dict[str, Any] | None:
    if each["op"] == "ask":
        return await _ask(client, each)
    for subject in each["subjects"]:
        if each["op"] == "publish":
            await client.publish(
                subject, each.get("payload", "").encode(), reply=each.get("reply", ""), headers=each.get("headers")
            )
        else:
            await client.subscribe(subject, queue=each.get("queue", ""))
    return None


async def _ask(client: Client, each: dict[str, Any]) -> dict[str, Any]:
    try:
        answer = await client.request(
            each["subjects"][0],
            each.get("payload", "").encode(),
            timeout=each.get("patience", 15),
            headers=each.get("headers"),
        )
    except (NatsError, TimeoutError) as error:
        return {"got": "error", "detail": f"no answer: {type(error).__name__}"}
    return {"got": "done", "value": answer.data.decode(errors="replace")}


def _judge(each: dict[str, Any], said: list[str]) -> dict[str, Any]:
    allowed = [subject for subject in each["subjects"] if not any(_is_about(each, subject, text) for text in said)]
    return {"got": "done", "detail": f"allowed: {', '.join(allowed)}"} if allowed else {"got": "refused"}


def _is_about(each: dict[str, Any], subject: str, text: str) -> bool:
    word = "publish" if each["op"] == "publish" else "subscription"
    ending = f' using queue "{each["queue"]}"' if each.get("queue") else ""
    return f'permissions violation for {word} to "{subject}"{ending}'.lower() in text
