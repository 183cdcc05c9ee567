"""The agent: settings -> database -> bus -> workspace page."""

from typing import Any

from services.agent.intake import AgentIntake
from services.agent.owners.deciders import Deciders
from services.agent.pages import workspace_app
from services.agent.tables import PROTECTION, app, core
from services.agent.usecases.propose_item import propose_item
from shared.db import Database
from shared.identity import Sessions, TokenReader
from shared.identity.doors import Surface
from shared.identity.streams import Streams
from shared.identity.upkeep import IdentityUpkeep
from shared.lifecycle import Service
from shared.operator import Verb
from shared.settings import Settings
from shared.signing import PublicKeys


def propose_verb(db: Database) -> Verb:
    async def propose(args: dict[str, Any]) -> dict[str, Any]:
        """{"kind", "lang", "path", "source"} -> {"item_id"}; the item then waits for a person."""
        async with db.transaction() as tx:
            found = await propose_item(tx, args["kind"], args["lang"], args["path"], args["source"])
        return {"item_id": str(found)}

    return propose


def compose(settings: Settings) -> Service:
    service = Service(settings)
    db = service.database(app, core, protection=PROTECTION)
    keys = PublicKeys.load(settings.public_keys)
    service.bus(AgentIntake(keys, Deciders(keys), lambda: None))
    service.operator({"items.propose": propose_verb(db)})
    surface = Surface("agent", settings.url, settings.urls["console"])
    streams = Streams(db)
    service.part(IdentityUpkeep(db))
    service.part(streams)
    sessions = Sessions(db, TokenReader(keys, surface.audience, surface.console_url))
    front = workspace_app(surface, sessions, streams)
    service.http(front, settings.host, settings.port, closing=streams.close)
    return service


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("agent")).run())
