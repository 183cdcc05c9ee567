"""What comes to the connectors, and which use case it goes to."""

from schemas.bridge.v1 import CheckpointCountersigned, KeyRecorded
from schemas.console.v1 import ActionDecided, CardDecided, ConnectorDeclared, SecretSealed
from services.connectors.audit.usecases.record_witness import record_witness
from services.connectors.book.keeper import Keeper
from services.connectors.book.usecases.record_action import record_action
from services.connectors.book.usecases.record_decision import record_decision
from services.connectors.book.usecases.record_key import record_key
from services.connectors.book.usecases.record_secret import record_secret
from services.connectors.book.usecases.record_setting import record_setting
from services.connectors.secrets.vault import Vault
from shared.bus import Received, on
from shared.db import Tx
from shared.signing import PublicKeys


class ConnectorsIntake:
    def __init__(self, keeper: Keeper, vault: Vault, keys: PublicKeys) -> None:
        self._keeper, self._vault, self._keys = keeper, vault, keys

    @on("key.recorded")
    async def on_key_recorded(self, tx: Tx, event: Received[KeyRecorded]) -> None:
        await record_key(tx, event, self._keeper)

    @on("connector.declared")
    async def on_connector_declared(self, tx: Tx, event: Received[ConnectorDeclared]) -> None:
        await record_setting(tx, event, self._keeper)

    @on("secret.sealed")
    async def on_secret_sealed(self, tx: Tx, event: Received[SecretSealed]) -> None:
        await record_secret(tx, event, self._keeper, self._vault)

    @on("card.decided")
    async def on_card_decided(self, tx: Tx, event: Received[CardDecided]) -> None:
        await record_decision(tx, event, self._keeper)

    @on("action.decided")
    async def on_action_decided(self, tx: Tx, event: Received[ActionDecided]) -> None:
        await record_action(tx, event, self._keeper)

    @on("checkpoint.countersigned")
    async def on_checkpoint_countersigned(self, tx: Tx, event: Received[CheckpointCountersigned]) -> None:
        await record_witness(tx, event, self._keys)
