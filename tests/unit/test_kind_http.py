"""The http kind against a server on loopback, through the real way out."""

import asyncio
import json

import pytest

from services.connectors.kinds.http import KIND
from shared.errors import Refused
from tests.counterparts.calls import prepare, secret, tunnel
from tests.counterparts.server import Counterpart, Seen, serving, whole


async def _echo(seen: Seen, writer: asyncio.StreamWriter) -> None:
    said = {"method": seen.method, "path": seen.path, "headers": dict(seen.headers), "body": seen.body.decode()}
    writer.write(whole(200, json.dumps(said).encode(), ("Content-Type", "application/json")))


@pytest.fixture(scope="module")
def there():  # type: ignore[no-untyped-def]
    with serving(_echo) as found:
        yield found


async def test_an_operation_reaches_the_base_address(there: Counterpart) -> None:
    call = prepare(KIND, {"base": f"{there.url}/v1"}, "get", {"path": "/things", "query": {"a": "b c"}})
    result = await KIND.run(call)
    assert result["status"] == 200
    assert result["json"]["path"] == "/v1/things?a=b+c"
    assert call.plan.target == f"GET {there.url}/v1/things?a"


async def test_a_tunnelled_exchange_carries_the_secret_and_not_the_dummy(there: Counterpart) -> None:
    settings = {"base": there.url, "methods": ["POST"], "auth": ["bearer"]}
    head = tunnel("POST", "/x", {"Authorization": "Bearer dummy", "Cookie": "a=b", "X-Kept": "yes"}, b"hello")
    call = prepare(KIND, settings, http=head, secrets=[secret("api_key", key="sk-right-one")], sending=[b"hel", b"lo"])
    assert await KIND.run(call) is None
    said = json.loads(call.sent)
    assert there.seen[-1].header("authorization") == "Bearer sk-right-one"
    assert said["body"] == "hello"
    assert said["headers"]["x-kept"] == "yes"
    assert "cookie" not in said["headers"]


async def test_what_was_not_declared_is_refused(there: Counterpart) -> None:
    base = {"base": f"{there.url}/v1", "paths": ["/a/*"]}
    for path in ("/b", "/a/b/c", "/a/%2e%2e%2fb", "/a%2f..%2fb", "/a/..;x", "/a/%2e%2e%3b"):
        with pytest.raises(Refused):
            prepare(KIND, base, http=tunnel("GET", path))
    with pytest.raises(Refused, match="takes GET"):
        prepare(KIND, base, http=tunnel("POST", "/a/b"))
    with pytest.raises(Refused, match="nonsense"):
        prepare(KIND, base, "get", {"path": "/a/b", "nonsense": 1})
    for name in ("X-HTTP-Method-Override", "X-Original-URL"):
        with pytest.raises(Refused, match="ask for that itself"):
            await KIND.run(prepare(KIND, base, http=tunnel("GET", "/a/b", {name: "DELETE"})))
