"""The audit's parts of the service, wired together."""

from services.connectors.audit.checkpoints import Checkpoints
from services.connectors.audit.closing import LostCalls
from services.connectors.audit.log import AuditLog
from services.connectors.audit.operator import AuditDesk
from shared.db import Database
from shared.lifecycle import Service
from shared.settings import Settings
from shared.signing import PublicKeys, SigningKey


def keep_audit(service: Service, settings: Settings, db: Database) -> AuditLog:
    """Everything that is written goes through what this returns, or through a use case's own transaction."""
    audit = AuditLog(db, service.health, settings.part)
    checkpoints = Checkpoints(db, SigningKey.load(settings.keys / "audit.key"), service.health)
    audit.listeners.append(checkpoints.told)
    for part in (checkpoints, audit, LostCalls(db, settings.part)):
        service.part(part)
    service.operator(AuditDesk(db, PublicKeys.load(settings.public_keys), checkpoints).verbs)
    return audit
