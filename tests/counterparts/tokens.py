"""A provider's token address that changes its refresh token with every use, as many do: one that is used twice ends everything."""

import asyncio
import base64
import json
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from tests.counterparts.server import Seen, whole


@dataclass
class TokenAddress:
    """`granted`: how many access tokens. `accepts` says whether a resource would take one."""

    refresh: str = "rt-first-0123456789abcdef"
    lifetime: int = 3600
    slow_s: float = 0.0
    granted: int = 0
    reused: int = 0
    asked: list[dict[str, str]] = field(default_factory=list)

    @property
    def access(self) -> str:
        return f"at-number-{self.granted}-fedcba9876543210"

    async def handle(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        form = {name: values[0] for name, values in parse_qs(seen.body.decode()).items()}
        self.asked.append(form)
        who = base64.b64decode(seen.header("authorization").removeprefix("Basic ")).decode()
        if who != "client:cl%20sec%2Fret-value":
            writer.write(_json(401, {"error": "invalid_client"}))
            return
        if form.get("refresh_token") != self.refresh:
            self.reused += 1
            said = {"error": "invalid_grant", "error_description": f"{form.get('refresh_token')} was used already"}
            writer.write(_json(400, said))
            return
        await asyncio.sleep(self.slow_s)
        self.granted += 1
        self.refresh = f"rt-number-{self.granted}-0123456789abcdef"
        answer = {
            "access_token": self.access,
            "token_type": "Bearer",
            "expires_in": self.lifetime,
            "refresh_token": self.refresh,
        }
        writer.write(_json(200, answer))


def _json(status: int, answer: object) -> bytes:
    return whole(status, json.dumps(answer).encode(), ("Content-Type", "application/json"))
