"""No answer tells an asker our credentials, whatever their spelling and wherever chunks end (SE-01)."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.connectors.kinds.http import KIND
from services.connectors.kinds.masking import NOTE, Mask, spellings
from tests.counterparts.calls import prepare, secret, tunnel
from tests.counterparts.hostile import hostile, spell
from tests.counterparts.server import Counterpart, serving

KEY = 'sk-Ab9/x+"q&=%Z-77e1c0ffee'


@pytest.fixture(scope="module")
def there():  # type: ignore[no-untyped-def]
    with serving(hostile) as found:
        yield found


@pytest.mark.parametrize("scheme", ["bearer", "header", "query"])
@pytest.mark.parametrize("status", [200, 403])
async def test_an_echoed_key_never_reaches_the_asker(there: Counterpart, scheme: str, status: int) -> None:
    declared = {"base": there.url, "auth": [scheme], "auth_header": "X-Key"}
    key = secret("api_key", key=KEY)
    path = f"/echo?status={status}" + ("&key=mine" if scheme == "query" else "")
    call = prepare(KIND, declared, http=tunnel("GET", path), secrets=[key])
    await KIND.run(call)
    told = call.sent + repr(call.headers).encode()
    assert not [each for each in spellings(KEY) if each in told]
    assert all("*****" in each for each in json.loads(call.sent)["spelled"])
    assert call.notes == [NOTE]
    assert "set-cookie" not in call.headers


async def test_an_operation_is_masked_like_a_stream(there: Counterpart) -> None:
    arguments = {"path": "/echo"}
    call = prepare(
        KIND,
        {"base": there.url, "auth": ["basic"]},
        "get",
        arguments,
        secrets=[secret("basic", username="kim", password=KEY)],
    )
    result = await KIND.run(call)
    assert result["status"] == 200
    assert not [each for each in spellings(KEY) if each in repr(result).encode()]


@settings(max_examples=120, deadline=None)
@given(st.text(min_size=4, max_size=60), st.integers(0, 2**32))
def test_any_value_in_any_spelling_is_found_over_any_border(value: str, seed: int) -> None:
    chance = random.Random(seed)
    try:
        text = chance.choice(spell(value)).encode()
    except UnicodeEncodeError:
        return  # a lone surrogate is no secret: sealing refuses it
    raw, mask, got = b"before " + text + b" after", Mask([value]), b""
    at = 0
    while at < len(raw):
        end = at + chance.randint(1, 9)
        got, at = got + mask.feed(raw[at:end]), end
    got += mask.end()
    assert len(got) == len(raw)
    assert mask.found
    assert not [each for each in spellings(value) if set(each) != {42} and each in got]


def test_what_is_no_credential_passes_unchanged_and_at_once() -> None:
    mask = Mask([KEY])
    event = b'data: {"choices": [{"delta": {"content": "Good"}}]}\n\n'
    assert mask.feed(event) == event
    assert mask.end() == b""
    assert not mask.found
