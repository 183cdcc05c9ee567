"""The connectors: settings -> database -> bus. No way out to the internet is opened yet, and nobody reaches them over HTTP."""

from typing import Any

from services.connectors.audit.usecases.record_call import Call, record_call
from services.connectors.audit.usecases.verify_audit import verify_audit
from services.connectors.book.keeper import Keeper
from services.connectors.cards.expiry import CardExpiry
from services.connectors.intake import ConnectorsIntake
from services.connectors.secrets.vault import Vault
from services.connectors.tables import app, core
from shared.db import Database
from shared.lifecycle import Service
from shared.sealing import Identity
from shared.settings import Settings
from shared.signing import PublicKeys

SELF_CHECK = Call(
    asker="operator",
    connector="self_check",
    operation="ping",
    target="localhost",
    outcome="ok",
    status="no call was made",
)


class Desk:
    """What the operator may ask."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def record(self, args: dict[str, Any]) -> dict[str, Any]:
        """Append a self-check entry; fields of Call may be given. {"entry_id"}."""
        async with self._db.transaction() as tx:
            return {"entry_id": str(await record_call(tx, Call(**(vars(SELF_CHECK) | args))))}

    async def verify(self, _: dict[str, Any]) -> dict[str, Any]:
        return await verify_audit(self._db)


def compose(settings: Settings) -> Service:
    service = Service(settings)
    db = service.database(app, core)
    keeper = Keeper(db, PublicKeys.load(settings.public_keys), service.notices)
    service.part(keeper)
    service.part(CardExpiry(db, keeper))
    vault = Vault(settings.secrets, Identity.load(settings.keys / "secrets.key"))
    service.bus(ConnectorsIntake(keeper, vault))
    desk = Desk(db)
    service.operator({"calls.record": desk.record, "audit.verify": desk.verify})
    return service


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("connectors")).run())
