"""Values of the secret store that turn up in what is submitted."""

import base64
from uuid import uuid4

from shared.sealing import read_place, read_recipient, seal
from tests.factories.stack import Stack


def put_secret(stack: Stack, name: str, value: str = "") -> str:
    """A new secret; its value."""
    place, value = f"agent/kept-{name}/key", value or f"own-{uuid4().hex}"
    sealed = seal(read_recipient(stack.layout.public_keys), read_place(place), "api_key", {"key": value})
    told = base64.b64encode(sealed).decode()
    stack.ask("console", "secrets.change", place=place, action="put", type="api_key", sealed=told)
    return value


def is_stopped(stack: Stack, text: str) -> bool:
    """Whether the lock stops a text, for holding one of them."""
    one = {"kind": "page", "lang": "en", "path": f"t-{uuid4().hex[:10]}", "text": text}
    refused = stack.ask("console", "items.submit", items=[one])["refused"]
    assert not refused or "value of the secret store" in refused[0]["reason"], refused
    return bool(refused)
