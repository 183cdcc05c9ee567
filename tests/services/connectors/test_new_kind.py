"""A new kind of connector is one file and one registration: everything else comes with it."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from schemas.text import canonical
from services.connectors.book.usecases.record_setting import check_settings
from services.connectors.kinds.registry import KINDS
from shared.errors import Refused
from tests.counterparts.calls import prepare
from tests.counterparts.server import Counterpart, Seen, serving, whole
from tests.counterparts.weather import KIND


async def _sky(seen: Seen, writer: asyncio.StreamWriter) -> None:
    writer.write(whole(200, json.dumps({"town": seen.path.rpartition("/")[2], "sky": "clear"}).encode()))


@pytest.fixture
def there() -> Iterator[Counterpart]:
    with serving(_sky) as found:
        yield found


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, KIND.name, KIND)


@pytest.mark.usefixtures("registered")
async def test_it_is_declared_checked_planned_and_called(there: Counterpart) -> None:
    settings = {"base": there.url, "addresses": ["127.0.0.1"]}
    assert KINDS["weather"].hosts(check_settings("weather", canonical(settings).decode())) == (there.key,)
    call = prepare(KINDS["weather"], settings, "now", {"town": "Kiel"})
    assert (call.plan.operation, call.plan.hosts) == ("now", (there.key,))
    assert await KINDS["weather"].run(call) == {"weather": {"town": "Kiel", "sky": "clear"}}
    assert await KINDS["weather"].check(call.request.settings, call.way) == ""
    with pytest.raises(Refused, match="takes town"):
        prepare(KINDS["weather"], settings, "now", {"town": "Kiel", "zone": "UTC"})


def test_one_that_is_not_registered_is_not_declared() -> None:
    with pytest.raises(Refused, match="no kind of connector 'weather'"):
        check_settings("weather", "{}")


@pytest.mark.usefixtures("registered")
def test_its_settings_take_nothing_that_it_does_not_know() -> None:
    for wrong in (
        {"base": "ftp://x"},
        {"base": "https://x.example", "key": "sk-1"},
        [],
        {"base": "https://u:p@x.example"},
        {"base": "https://x.example", "addresses": ["banana"]},
        {"base": "https://x.example", "addresses": ["0.0.0.0/0"]},
    ):
        with pytest.raises(Refused, match="do not fit"):
            check_settings("weather", canonical(wrong).decode())
    with pytest.raises(Refused, match=r"base is needed; key is unknown \(kind weather takes hosts, addresses, .*base"):
        check_settings("weather", '{"key":"sk-1"}')
