"""The connectors: settings -> database -> bus. No way out to the internet is opened yet, and nobody reaches them over HTTP."""

from services.connectors.audit.log import AuditLog
from services.connectors.audit.operator import AuditDesk
from services.connectors.book.keeper import Keeper
from services.connectors.cards.expiry import CardExpiry
from services.connectors.intake import ConnectorsIntake
from services.connectors.secrets.vault import Vault
from services.connectors.tables import app, core
from shared.lifecycle import Service
from shared.sealing import Identity
from shared.settings import Settings
from shared.signing import PublicKeys


def compose(settings: Settings) -> Service:
    service = Service(settings)
    db = service.database(app, core)
    keeper = Keeper(db, PublicKeys.load(settings.public_keys), service.notices)
    service.part(keeper)
    audit = AuditLog(db, service.health)
    service.part(audit)
    service.part(CardExpiry(db, keeper))
    vault = Vault(settings.secrets, Identity.load(settings.keys / "secrets.key"))
    service.bus(ConnectorsIntake(keeper, vault))
    service.operator(AuditDesk(db).verbs)
    return service


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("connectors")).run())
