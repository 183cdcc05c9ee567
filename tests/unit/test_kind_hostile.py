"""Whatever the other side answers, the asker gets an answer or a typed error, and memory and time stay bounded."""

import asyncio
import resource
import ssl
from pathlib import Path
from typing import Any

import pytest

from services.connectors.kinds.http import KIND
from shared.errors import Permanent, Refused, SchleuseError, TooLarge, Transient
from tests.counterparts.calls import Call, prepare, secret, tunnel
from tests.counterparts.certificates import authority
from tests.counterparts.hostile import hostile
from tests.counterparts.server import Counterpart, serving

KEY = "sk-hostile-0123456789"
MOST = 1024 * 1024


@pytest.fixture(scope="module")
def there():  # type: ignore[no-untyped-def]
    with serving(hostile) as found:
        yield found


def asking(there: Counterpart, path: str, **declared: Any) -> Call:
    settings = {"base": there.url, "auth": ["bearer"], "retries": 0, "max_response_bytes": MOST, **declared}
    return prepare(KIND, settings, http=tunnel("GET", path), secrets=[secret("api_key", key=KEY)])


@pytest.mark.parametrize(
    ("path", "error", "code"),
    [
        ("/short", Transient, "bad_answer"),
        ("/two-lengths", Transient, "bad_answer"),
        ("/bad-chunks", Transient, "bad_answer"),
        ("/cut-chunks", Transient, "bad_answer"),
        ("/bomb", TooLarge, "answer_too_large"),
        ("/nested-bomb", Permanent, "bad_answer"),
        ("/cut-gzip", Transient, "bad_answer"),
        ("/endless", TooLarge, "answer_too_large"),
        ("/large-headers", Transient, "bad_answer"),
        ("/many-headers", Permanent, "answer_headers"),
        ("/no-http", Transient, "bad_answer"),
        ("/gone", Transient, "bad_answer"),
    ],
)
async def test_a_bad_answer_is_a_typed_error(
    there: Counterpart, path: str, error: type[SchleuseError], code: str
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call = asking(there, path)
    with pytest.raises(error) as caught:
        await KIND.run(call)
    assert caught.value.code == code
    assert clean(caught.value)
    assert len(call.sent) <= MOST
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60 * 1024  # KiB


@pytest.mark.parametrize("path", ["/drip", "/silent"])
async def test_a_slow_answer_ends_with_the_connectors_time(there: Counterpart, path: str) -> None:
    with pytest.raises(Transient, match=r"longer than the 0\.3 s") as caught:
        await KIND.run(asking(there, path, timeout_s=0.3))
    assert caught.value.code == "timeout"
    assert clean(caught.value)


async def test_what_follows_an_answer_is_not_taken_for_the_next(there: Counterpart) -> None:
    for _ in range(2):
        call = asking(there, "/long")
        await KIND.run(call)
        assert call.sent == b"good"


async def test_compressed_answers_are_opened(there: Counterpart) -> None:
    call = asking(there, "/packed")
    await KIND.run(call)
    assert call.sent == b"hello"
    assert "content-encoding" not in call.headers
    assert "content-length" not in call.headers


async def test_redirects_are_followed_below_the_base_address_only(there: Counterpart) -> None:
    call = asking(there, "/round?left=9")
    await KIND.run(call)
    assert call.sent == b"arrived"
    with pytest.raises(Refused, match="more than 10 times"):
        await KIND.run(asking(there, "/round?left=11"))
    for to in (
        "http://169.254.169.254/latest",
        "http://127.0.0.1:4222/",
        "https://elsewhere.example/",
        "file:///etc/passwd",
        "//x@y/",
    ):
        with pytest.raises(Refused) as caught:
            await KIND.run(asking(there, f"/redirect?to={to}"))
        assert clean(caught.value)


async def test_another_listed_host_is_a_matter_of_another_ask(there: Counterpart) -> None:
    """The asker gets to know where it leads, and the other host gets no key: neither by itself nor when it is asked."""
    with serving(hostile) as other:
        call = asking(there, f"/redirect?to={other.url}/echo", hosts=[other.key])
        await KIND.run(call)
        assert (call.status, call.headers["location"]) == ("302", f"{other.url}/echo")
        assert other.seen == []
        head = tunnel("GET", "")
        asked = prepare(
            KIND,
            {"base": there.url, "auth": ["bearer"], "hosts": [other.key]},
            http=type(head)("GET", f"{other.url}/echo", (), 0),
        )
        assert asked.plan.secret_types == ()
        await KIND.run(asked)
        assert other.seen[0].header("authorization") == ""


async def test_a_name_without_address_a_dead_port_and_a_wrong_certificate(tmp_path: Path) -> None:
    for base, code in (("https://nobody.invalid", "unresolved"), ("http://127.0.0.1:9", "unreachable")):
        with pytest.raises(Transient) as caught:
            await KIND.run(prepare(KIND, {"base": base, "retries": 0}, http=tunnel("GET", "/")))
        assert caught.value.code == code
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority(tmp_path).issue("localhost"))
    with serving(hostile, context) as there, pytest.raises(Refused) as refused:
        declared = {"base": f"https://localhost:{there.port}", "addresses": ["127.0.0.1", "::1"], "retries": 0}
        await KIND.run(prepare(KIND, declared, http=tunnel("GET", "/")))
    assert refused.value.code == "certificate"


async def test_cancelling_stops_the_outside_call(there: Counterpart) -> None:
    before = there.broken_off
    running = asyncio.create_task(KIND.run(call := asking(there, "/endless", timeout_s=5)))
    while not call.sent:
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    async with asyncio.timeout(2):
        while there.broken_off == before:
            await asyncio.sleep(0.01)


def clean(error: BaseException) -> bool:
    """Neither it nor anything that it chains to knows the key."""
    while error is not None:
        assert KEY not in repr(error) + str(error) + repr(vars(error))
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return True
