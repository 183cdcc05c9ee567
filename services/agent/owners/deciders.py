"""Whose word counts here: statements that a person made in the console, signed by a decision key that counted when they came (S5)."""

from typing import TypeVar

from schemas.agency import ActionDecision, AgentSetting
from schemas.bridge.v1 import KeyRecorded
from schemas.statements import KeyChange, Opening, Signed
from services.agent.owners import store
from shared.db import Tx
from shared.decision_keys import DecisionKeys
from shared.signing import PublicKeys

D = TypeVar("D", AgentSetting, ActionDecision)


class Deciders:
    """Nothing is held in memory: which keys count is read in the transaction in which a statement is judged."""

    def __init__(self, keys: PublicKeys) -> None:
        self._keys = keys

    async def verify_by(self, tx: Tx, signed: Signed, opening: Opening, kind: type[D]) -> D:
        """The statement. BadSignature unless a key that counts signed it, and it commits to the person named, who came by the console."""
        return (await self._counting(tx)).verify_by(signed, opening, kind)

    async def keep(self, tx: Tx, signed: Signed, opening: Opening | None, kind: type[AgentSetting | ActionDecision | KeyChange], subject: str) -> bool:  # fmt: skip
        """Write it down, once. False when it is there already. Whoever keeps one has locked the statements (`lock`)."""
        if await store.has_statement(tx, signed.hash):
            return False
        await store.add_statement(tx, kind.PURPOSE, subject, signed, opening)
        return True

    async def lock(self, tx: Tx) -> None:
        """Nobody else adds a statement until this transaction ends."""
        await store.lock_statements(tx)

    async def record(self, tx: Tx, recorded: KeyRecorded) -> bool:
        """A key entry of the gate's log: statements are judged accordingly from now on. BadSignature for what the gate did not sign."""
        await self.lock(tx)
        if await store.has_statement(tx, recorded.change.hash):
            return False
        change = (await self._counting(tx)).verify_recorded(recorded)
        return await self.keep(tx, recorded.change, None, KeyChange, f"key:{change.subject_key_id}")

    async def _counting(self, tx: Tx) -> DecisionKeys:
        found = DecisionKeys(self._keys.copy())
        for row in await store.statements_after(tx, 0, [KeyChange.PURPOSE]):
            signed = Signed(payload=row["statement"], signature=row["signature"], key_id=row["key_id"])
            found.enter(found.verify(signed, KeyChange))
        return found
