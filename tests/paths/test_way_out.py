"""Names and redirects that lead elsewhere, in the running product: nothing leaves, the asker is told, the audit has it (NT-01, NT-03)."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from shared.asking.asker import Asker
from shared.errors import SchleuseError
from shared.ids import fresh_id
from tests.counterparts.hostile import hostile
from tests.counterparts.server import Counterpart, serving
from tests.factories.asking import asking, declare, entries, grant
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
CONNECTOR = f"redirecting-{fresh_id().hex[:6]}"


@pytest.fixture(scope="module")
def there(stack: Stack) -> Iterator[Counterpart]:
    with serving(hostile) as found:
        declare(stack, CONNECTOR, base=found.url)
        grant(stack, CONNECTOR, path="/echo")
        yield found


def codes(stack: Stack, urls: list[str]) -> list[str]:
    """What each ask is answered with: the code of the refusal, or the status."""

    async def ask(http: httpx2.AsyncClient, url: str) -> str:
        try:
            return str((await http.get(url)).status_code)
        except SchleuseError as error:
            return error.code

    async def work(asker: Asker) -> list[str]:
        async with httpx2.AsyncClient(transport=asker.transport(CONNECTOR), trust_env=False, timeout=20) as http:
            return list(await asyncio.gather(*(ask(http, url) for url in urls)))

    return asking(stack, work)


def test_redirects_to_where_nobody_may_go_are_refused_and_audited(stack: Stack, there: Counterpart) -> None:
    bus = f"http://127.0.0.1:{_bus_port(stack)}/"
    to = {
        "http://169.254.169.254/latest/meta-data/": "egress",
        bus: "egress",
        f"ftp://{there.key}/": "url",
        f"http://{there.key}@attacker.test/": "url",
        "http://2130706433/": "host",
    }
    before = len(entries(stack, CONNECTOR))
    assert codes(stack, [f"https://{CONNECTOR}.connector/redirect?to={each}" for each in to]) == list(to.values())
    ended = until(
        lambda: _ended(stack, before, len(to)), 10, "every call has its end"
    )  # written while the answer is on its way
    assert sorted(each["status"] for each in ended) == sorted(to.values())
    assert all(there.key in each["target"] for each in ended)


def _ended(stack: Stack, before: int, wanted: int) -> list[dict[str, Any]]:
    found = [each for each in entries(stack, CONNECTOR)[before:] if each["outcome"] == "failed"]
    return found if len(found) == wanted else []


def test_a_chain_of_redirects_ends_after_ten(stack: Stack, there: Counterpart) -> None:
    before = len(there.seen)
    assert codes(stack, [f"https://{CONNECTOR}.connector/round?left=11"]) == ["redirects"]
    assert len(there.seen) - before == 11


def test_neighbours_and_disguises_of_an_allowed_name_are_refused_and_audited(stack: Stack, there: Counterpart) -> None:
    before, seen = len(entries(stack, CONNECTOR)), len(there.seen)
    port = there.key.rpartition(":")[2]
    urls = [
        f"http://127.0.0.1.attacker.test:{port}/",
        f"http://x127.0.0.1:{port}/",
        f"http://localhost:{port}/",
        f"http://127.0.0.2:{port}/",
        "http://127.0.0.1:1/",
        f"http://127.0.0.1:{port}@attacker.test/",
        f"http://[::ffff:127.0.0.1]:{port}/",
    ]
    found = codes(stack, urls)
    assert set(found) <= {"egress", "url", "host"}, dict(zip(urls, found, strict=True))
    assert len(there.seen) == seen
    added = entries(stack, CONNECTOR)[before:]
    assert sum(each["outcome"] == "refused" for each in added) == len(urls)
    assert codes(stack, [f"HTTP://127.0.0.1:{port}/echo"]) == ["200"]


def _bus_port(stack: Stack) -> int:
    return int(stack.urls["console"].rpartition(":")[2]) + 3
