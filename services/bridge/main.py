"""The bridge: settings -> keys -> database -> bus -> timers. It serves nobody over HTTP but its own health."""

from collections.abc import Callable

from schemas.catalogue import EVENTS
from services.bridge import store
from services.bridge.attachments.gatherer import Gatherer
from services.bridge.following import FollowDesk
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.inspection import ColumnShelf, Inspector, Shelf
from services.bridge.inspection.desk import InspectionDesk
from services.bridge.intake import BridgeIntake
from services.bridge.operator import Desk
from services.bridge.tables import app, core
from services.bridge.timers import Timers
from services.bridge.usecases.tell_keys import tell_keys
from services.bridge.witness.operator import WitnessDesk
from shared.db import Database
from shared.db.notices import Notices
from shared.lifecycle import Service
from shared.outbox.seal import Sealer
from shared.outbox.stage import Stamp
from shared.settings import Settings
from shared.signing import PublicKeys, SigningKey

DEFAULT_POLICIES = [(event.owner, reader, event.name, event.policy) for event in EVENTS for reader in event.readers]


class Beginnings:
    """At start: the catalogue's defaults, wherever no policy was ever set, and key entries that connectors or agent do not know yet."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def start(self) -> None:
        async with self._db.transaction() as tx:
            await store.seed_policies(tx, DEFAULT_POLICIES)
            await tell_keys(tx)

    async def stop(self) -> None:
        """Nothing runs."""


def shared_wake(notices: Notices, topic: str, wake: Callable[[], None]) -> Callable[[], None]:
    """Wakes a loop here and in the other instances: whoever comes first does the work, the others find it done."""
    notices.on(topic, lambda _: wake())

    def everywhere() -> None:
        wake()
        notices.tell(topic)

    return everywhere


def compose(settings: Settings) -> Service:
    """Every duty has a key of its own (S3): the envelope key seals what is sent, the gate key signs the gate's log, the witness key the call audit's checkpoints."""
    sealer = Sealer(SigningKey.load(settings.keys / "envelope.key"))
    gate = Gate(SigningKey.load(settings.keys / "gate.key"))
    witness = SigningKey.load(settings.keys / "witness.key")
    public_keys = PublicKeys.load(settings.public_keys)
    service = Service(settings)
    db = service.database(app, core, Stamp("bridge", sealer))
    shelf = Shelf(db, settings.keys, service.health)
    columns = ColumnShelf(db, settings.keys, service.health)
    inspector = Inspector(shelf, columns)
    timers = Timers(db, gate, service.health)
    answerer = shared_wake(service.notices, "question", timers.answerer.wake)
    schedule = shared_wake(service.notices, "schedule", timers.schedule.wake)
    gatherer = Gatherer(db, inspector, service.health)
    gather = shared_wake(service.notices, "attachments", gatherer.wake)
    for part in (Beginnings(db), shelf, columns, inspector, timers, gatherer):
        service.part(part)
    keys = DecisionKeys(public_keys)
    service.bus(BridgeIntake(db, inspector, shelf, keys, gate, public_keys, witness, answerer, schedule, gather))
    service.operator(
        InspectionDesk(inspector, shelf, columns).verbs | Desk(db, public_keys).verbs | FollowDesk(db, gate).verbs
    )
    service.operator(WitnessDesk(db, public_keys).verbs)
    return service


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("bridge")).run())
