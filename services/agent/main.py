"""The agent: settings -> database -> bus -> workspace page."""

from typing import Any

from services.agent.intake import AgentIntake
from services.agent.owners.parts import make_owners
from services.agent.pages import workspace_app
from services.agent.tables import PROTECTION, app, core
from services.agent.usecases.propose_item import propose_item
from shared.db import Database
from shared.identity.doors import Surface
from shared.identity.upkeep import IdentityUpkeep
from shared.lifecycle import Service
from shared.operator import Verb
from shared.settings import Settings


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
    surface = Surface("agent", settings.url, settings.urls["console"])
    owners = make_owners(service, db, surface)
    service.bus(AgentIntake(owners, lambda: None))
    service.operator({"items.propose": propose_verb(db)})
    service.part(IdentityUpkeep(db))
    front = workspace_app(surface, owners.sessions, owners.streams)
    service.http(front, settings.host, settings.port, closing=owners.close)
    return service


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("agent")).run())
