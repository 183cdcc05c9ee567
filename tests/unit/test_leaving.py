"""Whether a model's request left this machine, for what stayed here cost nothing; and what a turn says that it cost."""

from decimal import Decimal
from typing import Any

import httpx2
import pytest

from services.agent.loop.figures import money
from services.agent.loop.outside import Outside, OwnersTransport, outside
from shared.asking.transport import tunnelled
from shared.errors import NotFound, Refused, SchleuseError, from_wire


class Refusing(httpx2.AsyncBaseTransport):
    def __init__(self, error: SchleuseError) -> None:
        self._error = error

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        raise tunnelled(self._error)


class Asker:
    def __init__(self, error: SchleuseError) -> None:
        self._error = error

    def transport(self, connector: str, **_: Any) -> Refusing:
        return Refusing(self._error)


@pytest.mark.parametrize(
    "error", [NotFound("no such connector", code="connector_unknown"), Refused("switched off", code="connector_off")]
)
@pytest.mark.parametrize("begun", [True, False])
async def test_what_the_connectors_refused_before_it_began_never_left(error: SchleuseError, begun: bool) -> None:
    """The same words come when a call is cut in the middle: what counts is what they say of its beginning."""
    said = from_wire(error.status, error.code, error.message, nothing_left=not begun)
    asker: Any = Asker(said)
    mine = Outside()
    token = outside.set(mine)
    try:
        with pytest.raises(type(error)):
            await OwnersTransport(asker, "llm").handle_async_request(httpx2.Request("POST", "http://llm/v1"))
    finally:
        outside.reset(token)
    assert mine.left is begun


def test_a_cost_has_no_zeros_at_its_end() -> None:
    assert [money(each) for each in (None, Decimal("0.000035000000000000"), Decimal("0E-18"), Decimal("10"))] == [
        None,
        "0.000035",
        "0",
        "10",
    ]
