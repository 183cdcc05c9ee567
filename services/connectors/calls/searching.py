"""`search_audit`: an asker looks at its own part of the call audit."""

import asyncio
import json

from schemas.outward import ASKERS
from services.connectors.audit.log import Note
from services.connectors.audit.usecases.search_audit import search_own_audit
from services.connectors.book.keeper import Keeper
from services.connectors.calls.delegations import check_operation, read_delegation
from services.connectors.calls.refusals import Refusals
from services.connectors.calls.running import Call, cancelled
from services.connectors.calls.serving import say_error
from shared.asking.wire import END, AuditAsk
from shared.clock import now
from shared.db import Database
from shared.errors import SchleuseError
from shared.faults import faults_told
from shared.signing import PublicKeys

OPERATION = "audit.search"
"""What a delegation must name to look for its owner."""


class Searching:
    """Reads only, one search of each asker at a time: they share connections with what is written. A refused one is an entry like every refusal."""

    def __init__(self, db: Database, keeper: Keeper, keys: PublicKeys, refusals: Refusals) -> None:
        self._db, self._keeper, self._keys, self._refusals = db, keeper, keys, refusals
        self._turns = {asker: asyncio.Lock() for asker in ASKERS}

    async def serve(self, call: Call, ask: AuditAsk) -> None:
        try:
            delegation = read_delegation(ask.delegation, self._keys, self._keeper.book, call.asker, None, now())
            check_operation(delegation, OPERATION)
            owner = delegation.owner if delegation is not None else None
            async with self._turns[call.asker]:
                with faults_told("the search"):
                    found = await search_own_audit(self._db, call.asker, owner, ask.query)
            await call.send(json.dumps(found, ensure_ascii=False, default=str).encode())
            await call.say(END, json.dumps({"call_id": str(call.call_id)}).encode())
        except asyncio.CancelledError:
            await say_error(call, call.reason or cancelled(), begun=True)
        except SchleuseError as error:
            await self._refuse(call, error)

    async def _refuse(self, call: Call, error: SchleuseError) -> None:
        note = Note(call.call_id, call.asker, OPERATION, "refused", status=error.code, detail=error.message)
        try:
            await self._refusals.write(note)
        except SchleuseError as unwritten:
            error = unwritten
        await say_error(call, error, begun=False)
