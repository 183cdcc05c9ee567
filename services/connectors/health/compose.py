"""The parts that look after the connectors while nobody asks them."""

from services.connectors.audit.log import AuditLog
from services.connectors.book.keeper import Keeper
from services.connectors.egress.door import Door
from services.connectors.health.tokens import TokenRemoval
from services.connectors.health.watch import ConnectorWatch
from services.connectors.kinds.oauth2 import AccessTokens
from shared.db import Database
from shared.lifecycle import Service


def watch_connectors(service: Service, db: Database, keeper: Keeper, audit: AuditLog, access: AccessTokens) -> None:
    watch = ConnectorWatch(service.settings.part, db, keeper, audit, Door(service.settings), service.health)
    service.part(watch)
    service.part(TokenRemoval(keeper, access))
    service.operator({"connectors.check": watch.check_now})
