"""The parts about owners, wired: who comes in, for whom the agent may act, whose word counts, and what was decided."""

from dataclasses import dataclass

from services.agent.owners.access import AccessKeys
from services.agent.owners.deciders import Deciders
from services.agent.owners.delegations import Delegations
from services.agent.owners.door import OwnerDoor
from services.agent.owners.key_watch import KeyWatch
from services.agent.owners.operator import OwnersOperator
from services.agent.owners.settings import AgentSettings
from shared.db import Database
from shared.identity import Sessions, TokenReader
from shared.identity.doors import Surface
from shared.identity.streams import Streams
from shared.lifecycle import Service
from shared.signing import PublicKeys


@dataclass(frozen=True)
class Owners:
    """`sessions` and `streams` are those of signed-in browsers; `door` knows programs, too."""

    keys: PublicKeys
    deciders: Deciders
    settings: AgentSettings
    delegations: Delegations
    sessions: Sessions
    streams: Streams
    watch: KeyWatch
    door: OwnerDoor

    def close(self) -> None:
        """End all open streams: the HTTP server begins to stop."""
        self.streams.close()
        self.watch.close()


def make_owners(service: Service, db: Database, surface: Surface) -> Owners:
    """Those of them that run are parts of the service afterwards."""
    keys = PublicKeys.load(service.settings.public_keys)
    settings = AgentSettings(db, keys, service.notices, service.health)
    sessions = Sessions(db, TokenReader(keys, surface.audience, surface.console_url))
    access, streams = AccessKeys(db, keys, service.settings.restored_at), Streams(db)
    watch = KeyWatch(access)
    for part in (settings, streams, watch):
        service.part(part)
    service.operator(OwnersOperator(access).verbs)
    door = OwnerDoor(db, sessions, access, streams, watch, surface.cookie)
    return Owners(keys, Deciders(keys), settings, Delegations(db, keys), sessions, streams, watch, door)
