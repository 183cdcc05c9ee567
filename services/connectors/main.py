"""The connectors: settings -> database -> bus -> what is asked of them. Nobody reaches them over HTTP."""

from services.connectors.audit.compose import keep_audit
from services.connectors.book.keeper import Keeper
from services.connectors.calls.compose import answer_calls
from services.connectors.cards.expiry import CardExpiry
from services.connectors.fingerprints.taker import FingerprintTaker
from services.connectors.health.compose import watch_connectors
from services.connectors.intake import ConnectorsIntake
from services.connectors.kinds.oauth2 import AccessTokens
from services.connectors.kinds.token_files import TokenFiles
from services.connectors.secrets.removal import Removal
from services.connectors.secrets.vault import Vault
from services.connectors.tables import app, core
from shared.lifecycle import Service
from shared.sealing import Identity
from shared.settings import Settings
from shared.signing import PublicKeys


def compose(settings: Settings) -> Service:
    service = Service(settings)
    db = service.database(app, core)
    keeper = Keeper(db, PublicKeys.load(settings.public_keys), service.notices, settings.restored_at)
    service.part(keeper)
    audit = keep_audit(service, settings, db)
    service.part(CardExpiry(db, keeper))
    identity = Identity.load(settings.keys / "secrets.key")
    vault = Vault(settings.secrets, identity)
    service.part(
        FingerprintTaker(db, keeper, vault, TokenFiles(settings.secrets, identity), settings.keys, service.health)
    )
    service.part(Removal(keeper, vault))
    link = service.bus(ConnectorsIntake(keeper, vault, PublicKeys.load(settings.public_keys)))
    access = AccessTokens(db, settings.secrets, identity)
    answer_calls(service, link, db, keeper, audit, vault, access)
    watch_connectors(service, db, keeper, audit, access)
    return service


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("connectors")).run())
