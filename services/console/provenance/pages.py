"""The page /provenance: give an item's address, see where it comes from."""

from starlette.responses import Response
from starlette.routing import Route

from services.console.desk import Desk, Visit
from services.console.forms import query
from services.console.provenance.reading import read_provenance
from shared.errors import NotFound


class ProvenancePages:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._console = desk, desk.console

    def routes(self) -> list[Route]:
        return [Route("/provenance", self._desk.page(self.show))]

    async def show(self, visit: Visit) -> Response:
        said = query(visit.request, "address", 3000)
        found, failed = None, None
        if said:
            try:
                found = await read_provenance(self._console.db, said)
            except NotFound as error:
                failed = error
        url = self._console.item_url(found.kind, found.lang, found.path) if found else ""
        talk = self._console.audience_url("agent")
        facts = {"said": said, "found": found, "failed": failed, "public_url": url, "talk_url": talk}
        return await visit.show("provenance.html", 404 if failed else 200, **facts)
