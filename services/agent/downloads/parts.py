"""Downloads, wired."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastapi import FastAPI
from starlette.routing import Route

from services.agent.chat.api import Api
from services.agent.chat.front import Front
from services.agent.downloads.api import add_downloads
from services.agent.downloads.desk import Downloads
from services.agent.downloads.handing import Handing
from services.agent.downloads.holding import DownloadsHolding
from services.agent.downloads.links import LinkKeys
from services.agent.downloads.pages import DownloadPages
from services.agent.downloads.reading import OwnFiles
from services.agent.downloads.spool import Spool
from services.agent.downloads.tools import make_tools
from services.agent.downloads.upkeep import DownloadUpkeep
from services.agent.owners.still import StillThere
from services.agent.tools.domain import Tool
from shared.db import Database
from shared.lifecycle import Service

AddTo = Callable[[FastAPI, Api], None]


@dataclass(frozen=True)
class DownloadParts:
    downloads: Downloads
    handing: Handing
    holding: DownloadsHolding
    tools: tuple[Tool, ...]

    def pages(self, front: Front) -> Sequence[Route]:
        return DownloadPages(front, self.downloads, self.handing).routes()

    def also(self, others: AddTo) -> AddTo:
        """What `others` add to the API, and ours."""

        def add(app: FastAPI, api: Api) -> None:
            others(app, api)
            add_downloads(app, api, self.downloads)

        return add


def make_downloads(service: Service, db: Database) -> DownloadParts:
    """What clears away runs as a part of the service afterwards."""
    settings = service.settings
    spool, files = Spool(settings.spool), OwnFiles(settings.workspace, db)
    downloads = Downloads(db, files, LinkKeys(settings.links_key), StillThere(db), settings.url, spool)
    service.part(DownloadUpkeep(db, spool))
    handing = Handing(spool, settings.trusted_proxies)
    return DownloadParts(downloads, handing, DownloadsHolding(db, spool), make_tools(downloads))
