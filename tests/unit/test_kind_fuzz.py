"""Whatever bytes come back, and whatever URL, header or setting goes in: an answer, or a typed error that holds nothing of the key."""

import asyncio
import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from services.connectors.kinds.headers import outward
from services.connectors.kinds.http import KIND, HttpSettings
from services.connectors.kinds.kind import HttpHead, Request
from services.connectors.kinds.usage import Usage
from shared.errors import Refused, SchleuseError
from tests.counterparts.calls import prepare, secret, tunnel
from tests.counterparts.server import Counterpart, Seen, serving
from tests.unit.test_kind_hostile import KEY, clean

GOOD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\nhello again",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n again\r\n0\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 429 Slow down\r\nRetry-After: 99\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xcbH\xcd\xc9\xc9\x07\x00\x86\xa6\x106\x05\x00\x00\x00",
)
NASTY = (
    b"\r\n",
    b"\x00",
    b"\xff",
    b":",
    b" ",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"99999999999",
    b"-1",
    b"HTTP/9.9",
)


def spoil(chance: random.Random) -> bytes:
    """A good answer with some of its bytes changed, removed, doubled or replaced."""
    raw = bytearray(chance.choice(GOOD))
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(raw) + 1)
        end = min(len(raw), at + chance.randint(0, 8))
        raw[at:end] = chance.choice((b"", bytes(raw[at:end]) * 2, chance.randbytes(3), chance.choice(NASTY)))
    return bytes(raw)


@pytest.fixture(scope="module")
def spoiled():  # type: ignore[no-untyped-def]
    async def handle(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(spoil(random.Random(seen.path)))
        await writer.drain()
        writer.close()

    with serving(handle) as found:
        yield found


async def test_spoiled_answers(spoiled: Counterpart) -> None:
    async def one(seed: int) -> None:
        declared = {"base": spoiled.url, "auth": ["bearer"], "retries": 0, "timeout_s": 3}
        call = prepare(KIND, declared, http=tunnel("GET", f"/{seed}"), secrets=[secret("api_key", key=KEY)])
        try:
            await KIND.run(call)
        except SchleuseError as error:
            assert clean(error)

    for first in range(0, 150, 30):
        await asyncio.gather(*(one(seed) for seed in range(first, first + 30)))


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60), st.text(max_size=30))
def test_any_url_leads_below_the_base_address_or_nowhere(path: str, host: str) -> None:
    declared = HttpSettings(base="https://api.example.com/v1", hosts=("other.example",), auth=("bearer",))
    for url in (f"https://there.connector{path}", f"https://there.connector/{path}", f"https://{host}/{path}", path):
        with suppress(Refused):
            plan = KIND.plan(Request("there", declared, http=HttpHead("GET", url, ())), ())
            if plan.secret_types:
                assert plan.hosts == ("api.example.com:443",)
                assert plan.target.startswith("GET https://api.example.com/v1/") or plan.target in (
                    "GET https://api.example.com/v1",
                    "GET https://api.example.com/v1?",
                )


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=4))
def test_any_header_leaves_in_one_line_or_not_at_all(headers: list[tuple[str, str]]) -> None:
    with suppress(Refused):
        for name, value in outward(headers):
            assert "\r" not in name + value
            assert "\n" not in name + value
            (name + value).encode("latin-1")


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*HttpSettings.model_fields, "unknown"]),
        st.one_of(st.text(max_size=8), st.integers(), st.none(), st.lists(st.text(max_size=5), max_size=2)),
        max_size=4,
    )
)
def test_any_setting_is_taken_or_refused(given_: dict[str, Any]) -> None:
    with suppress(ValidationError, Refused):
        found = HttpSettings.model_validate({"base": "https://x.example"} | given_)
        assert all(":" in host for host in KIND.hosts(found))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.booleans(), st.integers(1, 9))
def test_any_answer_can_be_read_for_usage(raw: bytes, events: bool, step: int) -> None:
    usage = Usage(events)
    for at in range(0, len(raw), step):
        usage.feed(raw[at : at + step] + b'\ndata: {"usage": ' + raw[:step])
    usage.end()
    assert usage.tokens_in is None or usage.tokens_in >= 0
