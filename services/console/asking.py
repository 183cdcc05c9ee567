"""Asking the connectors as the console, from the machine it runs on (S12): for trying a connector, and for what only the console may use."""

import base64
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import httpx2

from shared.asking.asker import Asker
from shared.errors import Refused
from shared.operator import Verb


class AskOperator:
    """What `schleuse call` does."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    @property
    def verbs(self) -> Mapping[str, Verb]:
        return {"ask.call": self._call, "ask.http": self._http, "ask.cancel": self._cancel, "ask.search": self._search}

    async def _call(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"connector", "operation", "arguments", "secret", "wait_s", "quoted"} -> {"result"}."""
        arguments = args.get("arguments") or {}
        if not isinstance(arguments, dict):
            raise Refused("the arguments must be a JSON object")
        found = await self._asker.call(args["connector"], args["operation"], arguments, **_manner(args))
        return {"result": found}

    async def _http(self, args: dict[str, Any]) -> dict[str, Any]:
        """{"connector", "method", "url", "headers", "body"} -> {"status", "headers", "text" or "base64", "call_id"}."""
        transport = self._asker.transport(args["connector"], **_manner(args))
        async with httpx2.AsyncClient(transport=transport, timeout=None) as client:
            answer = await client.request(
                args.get("method") or "GET", args["url"], headers=args.get("headers"), content=args.get("body")
            )
        found = {"status": answer.status_code, "headers": dict(answer.headers), "call_id": answer.extensions["call_id"]}
        try:
            return found | {"text": answer.content.decode()}
        except UnicodeDecodeError:
            return found | {"base64": base64.b64encode(answer.content).decode()}

    async def _cancel(self, args: dict[str, Any]) -> dict[str, Any]:
        await self._asker.cancel(UUID(str(args["call_id"])))
        return {}

    async def _search(self, args: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = await self._asker.search_audit(args.get("query") or {})
        return found


def _manner(args: dict[str, Any]) -> dict[str, Any]:
    return {
        "secret": args.get("secret") or "",
        "wait_s": float(args.get("wait_s") or 0),
        "quoted": args.get("quoted") or "",
    }
