"""The page Your data: what is kept, to fetch and to have deleted."""

from collections.abc import Mapping, Sequence

from starlette.responses import Response
from starlette.routing import Route

from services.agent.belongings.api import SENTENCE, confirmed, person
from services.agent.belongings.domain import STAYS, Holding
from services.agent.belongings.usecases.forget_all import forget_all
from services.agent.chat.front import Asked, Front
from shared.errors import Refused


class BelongingsPages:
    def __init__(self, front: Front, holdings: Sequence[Holding]) -> None:
        self._front, self._holdings = front, holdings

    def routes(self) -> list[Route]:
        page = self._front.page
        return [
            Route("/data", page(self.show), methods=["GET"]),
            Route("/data/forget", page(self.forget), methods=["POST"]),
        ]

    async def show(self, asked: Asked) -> Response:
        return self._show(asked)

    async def forget(self, asked: Asked) -> Response:
        """Once the sentence was typed. What runs in the person's conversations is over."""
        me = person(asked.caller.me)
        try:
            self._front.check(asked)
            confirmed(asked.form.get("confirm", ""))
        except Refused as error:
            return self._show(asked, error.status, notice=error.message)
        return self._show(asked, deleted=await forget_all(self._holdings, me.owner))

    def _show(
        self, asked: Asked, status: int = 200, *, notice: str = "", deleted: Mapping[str, int] | None = None
    ) -> Response:
        known = {"sentence": SENTENCE, "stays": sorted(STAYS.items()), "notice": notice, "deleted": deleted}
        return self._front.show(asked.caller, "data.html", status, here="data", **known)


def belongings_pages(holdings: Sequence[Holding], front: Front) -> list[Route]:
    return BelongingsPages(front, holdings).routes()
