"""What comes to the connectors, and which use case it goes to."""

from schemas.bridge.v1 import KeyRecorded
from schemas.console.v1 import ConnectorDeclared
from services.connectors.book.keeper import Keeper
from services.connectors.book.usecases.record_key import record_key
from services.connectors.book.usecases.record_setting import record_setting
from shared.bus import Received, on
from shared.db import Tx


class ConnectorsIntake:
    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    @on("key.recorded")
    async def on_key_recorded(self, tx: Tx, event: Received[KeyRecorded]) -> None:
        await record_key(tx, event, self._keeper)

    @on("connector.declared")
    async def on_connector_declared(self, tx: Tx, event: Received[ConnectorDeclared]) -> None:
        await record_setting(tx, event, self._keeper)
