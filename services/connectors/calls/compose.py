"""The parts of the call path, put together."""

from services.connectors.audit.log import AuditLog
from services.connectors.book.keeper import Keeper
from services.connectors.calls.admission import Admission
from services.connectors.calls.desk import CallDesk
from services.connectors.calls.ending import Endings
from services.connectors.calls.refusals import Refusals
from services.connectors.calls.searching import Searching
from services.connectors.calls.serving import Serving
from services.connectors.cards.desk import CardDesk
from services.connectors.egress.door import Door
from services.connectors.egress.keeping import Kept
from services.connectors.kinds.oauth2 import AccessTokens
from services.connectors.secrets.vault import Vault
from shared.bus.link import BusLink
from shared.db import Database
from shared.lifecycle import Service
from shared.signing import PublicKeys


def answer_calls(
    service: Service, link: BusLink, db: Database, keeper: Keeper, audit: AuditLog, vault: Vault, access: AccessTokens
) -> None:
    """What is asked of the connectors is heard as long as there is a bus."""
    settings = service.settings
    keys = PublicKeys.load(settings.public_keys)
    cards = CardDesk(db, keeper, settings.urls["console"])
    admission = Admission(keeper, keys, cards, len(settings.instances))
    endings, refusals = Endings(audit), Refusals(audit)
    serving = Serving(settings.part, keeper, admission, audit, refusals, endings, vault, Door(settings, Kept()), access)
    searching = Searching(db, keeper, keys, refusals)
    link.also(CallDesk(link.connection, keeper, serving, searching, refusals, endings, service.health))
