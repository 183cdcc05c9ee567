"""The bus's figures, over one connection of the admin identity that stays open."""

import asyncio
import json
from typing import Any

from nats.aio.client import Client
from nats.errors import Error as NatsError

from infra.local.config import Config
from infra.local.layout import Layout
from infra.nats.provision import connect
from infra.nats.topology import durables, streams
from infra.observe.bus import hang_up

PATIENCE = 1.5
READERS = {(each.stream, each.name): each.reader for each in durables()}
Figures = dict[str, Any]


class Bus:
    def __init__(self, layout: Layout, config: Config) -> None:
        self._layout, self._config = layout, config
        self._client: Client | None = None

    async def read(self) -> Figures:
        """{"streams": [{"name", "bytes", "limit", "messages"}], "readers": [{"reader", "stream", "durable", "pending", "in_hand", "redelivered"}], "lag": {reader: n}}.

        Empty when the bus does not answer: then nothing is known, not zero.
        """
        try:
            async with asyncio.timeout(2 * PATIENCE):
                client = await self._connected()
                listed = await self._ask(client, "STREAM.LIST", "streams")
                asked = [self._ask(client, f"CONSUMER.LIST.{stream.name}", "consumers") for stream in streams()]
                consumers = [each for found in await asyncio.gather(*asked) for each in found]
        except (NatsError, OSError, TimeoutError, ValueError):
            await self.close()
            return {}
        readers = [_reader(each) for each in consumers]
        lag: dict[str, int] = {}
        for each in readers:
            lag[each["reader"]] = lag.get(each["reader"], 0) + each["pending"] + each["in_hand"]
        return {"streams": [_stream(each) for each in listed], "readers": readers, "lag": lag}

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await hang_up(client)

    async def _connected(self) -> Client:
        if self._client is None or not self._client.is_connected:
            self._client = await connect(
                self._config.bus, self._layout.tls / "ca.pem", self._layout.admin_seed, "admin"
            )
        return self._client

    @staticmethod
    async def _ask(client: Client, verb: str, field: str) -> list[Figures]:
        answer = json.loads((await client.request(f"$JS.API.{verb}", b"", timeout=PATIENCE)).data)
        if "error" in answer:
            raise ValueError(answer["error"].get("description", "refused"))
        found: list[Figures] = answer.get(field) or []
        return found


def _stream(each: Figures) -> Figures:
    config, state = each["config"], each["state"]
    return {"name": config["name"], "bytes": state["bytes"], "limit": config.get("max_bytes"), "messages": state["messages"]}  # fmt: skip


def _reader(each: Figures) -> Figures:
    stream, durable = each["stream_name"], each["name"]
    return {
        "reader": READERS.get((stream, durable), "nobody"),
        "stream": stream,
        "durable": durable,
        "pending": each.get("num_pending", 0),
        "in_hand": each.get("num_ack_pending", 0),
        "redelivered": each.get("num_redelivered", 0),
    }
