"""Somebody who talks with the agent by its API, with a token that the operator made for them."""

from dataclasses import dataclass
from typing import Any

import httpx2

from infra.cli.access import make_access
from tests.factories.stack import Stack, apart


@dataclass
class Talk:
    """`key` is theirs; each `say` is one whole turn."""

    stack: Stack
    handle: str
    key: str

    @classmethod
    def of(cls, stack: Stack, handle: str) -> "Talk":
        made = apart(lambda: make_access(stack.state, "token", handle, "test"))
        return cls(stack, handle, made["key"])

    def say(self, text: str, conversation: str | None = None) -> dict[str, Any]:
        """The turn, as the API tells it."""
        body = {"text": text, "conversation_id": conversation, "wait": True}
        found: dict[str, Any] = self._send("POST", "/api/v1/turns", json=body)
        return found

    def get(self, path: str) -> Any:
        return self._send("GET", f"/api/v1{path}")

    def post(self, path: str, **body: Any) -> Any:
        return self._send("POST", f"/api/v1{path}", json=body)

    def _send(self, method: str, path: str, **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.key}"}
        answer = httpx2.request(method, f"{self.stack.urls['workspace']}{path}", headers=headers, timeout=60, **body)
        assert answer.status_code < 300, answer.text
        return answer.json()
