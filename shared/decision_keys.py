"""Whose statements count: the installation's decision keys and the added ones, without the revoked ones."""

import base64
from typing import TypeVar

from schemas.agency import ActionDecision, AgentSetting
from schemas.bridge.v1 import KeyRecorded
from schemas.outward import CardDecision, ConnectorSetting, SecretChange
from schemas.statements import GateEntry, KeyChange, Opening, Signed, Statement
from shared.errors import BadSignature
from shared.signing import PublicKeys

S = TypeVar("S", bound=Statement)
D = TypeVar("D", ConnectorSetting, SecretChange, CardDecision, AgentSetting, ActionDecision)
PEOPLE_COME_BY = ("console", "api", "operator")


class DecisionKeys:
    """In step with the key entries of the gate's log, in their order."""

    def __init__(self, keys: PublicKeys) -> None:
        self._keys = keys
        self._revoked: set[str] = set()

    def copy(self) -> "DecisionKeys":
        made = DecisionKeys(self._keys.copy())
        made._revoked = set(self._revoked)
        return made

    def verify(self, signed: Signed, kind: type[S]) -> S:
        """The statement, when a key that counts signed exactly these bytes. BadSignature otherwise."""
        if signed.key_id in self._revoked:
            raise BadSignature(f"decision key {signed.key_id} was revoked; its signatures no longer count")
        return self._keys.verify("decision", signed, kind)

    def verify_by(self, signed: Signed, opening: Opening, kind: type[D]) -> D:
        """As `verify`, and that the person named is the one whom the statement commits to, and a person (S5)."""
        found = self.verify(signed, kind)
        if opening.commitment != found.decider:
            raise BadSignature("the person named is not the one the signed statement commits to")
        if opening.via not in PEOPLE_COME_BY:
            raise BadSignature(f"a decision cannot come by way of {opening.via!r}; a person decides in the console")
        return found

    def verify_recorded(self, recorded: KeyRecorded) -> KeyChange:
        """A key entry of the gate's log: both signatures, and that the entry is about this change."""
        entry = self._keys.verify("gate", recorded.gate, GateEntry)
        if entry.statement_hash != recorded.change.hash:
            raise BadSignature("the gate's entry is about another statement")
        return self.verify(recorded.change, KeyChange)

    def enter(self, change: KeyChange) -> None:
        if change.action == "revoked":
            self._revoked.add(change.subject_key_id)
        else:
            self._keys.add("decision", change.subject_key_id, base64.b64decode(change.subject_public_key))
