"""Append to the gate's log: the next link of the chain, written with what it commits to, and told to the site.

The caller holds the gate's lock (`store.lock_gate`) and read the head after it got it.
"""

from schemas.bridge.v1 import ItemPublished, ItemRetracted, KeyRecorded, LinkRecorded, ModeEntered
from schemas.model import Data
from services.bridge.core_tables import gate_log
from services.bridge.gate import Sealed
from services.bridge.usecases.record_crossings import Step

KEY = "gate"
INSIDERS = ("connectors", "agent")
_EVENTS = {
    "publication": "item.published",
    "withdrawal": "item.retracted",
    "site_mode": "mode.entered",
    "key": "key.recorded",
    "link": "link.recorded",
}


def receipt(sealed: Sealed, content: bytes | None) -> Data:
    """What the site gets for an entry: both signatures, and for a publication the exact content."""
    match sealed.kind:
        case "publication":
            assert sealed.item_id is not None and content is not None
            return ItemPublished(item_id=sealed.item_id, decision=sealed.statement, gate=sealed.entry, content=content)
        case "withdrawal":
            assert sealed.item_id is not None
            return ItemRetracted(item_id=sealed.item_id, withdrawal=sealed.statement, gate=sealed.entry)
        case "site_mode":
            return ModeEntered(setting=sealed.statement, gate=sealed.entry)
        case "key":
            return KeyRecorded(change=sealed.statement, gate=sealed.entry)
        case "link":
            assert sealed.item_id is not None
            return LinkRecorded(item_id=sealed.item_id, change=sealed.statement, gate=sealed.entry)


def tell_site(step: Step, sealed: Sealed, content: bytes | None, key: str = KEY, decided_by: str = "") -> None:
    """Publish the entry to the site. `key` is `gate` for a new entry, the question's own for one that is sent again."""
    step.tell(
        _EVENTS[sealed.kind],
        receipt(sealed, content),
        key=key,
        version=sealed.seq,
        to="site",
        about=str(sealed.item_id) if sealed.item_id else KEY,
        decided_by=decided_by,
        signature_hash=sealed.statement.hash,
    )


def tell_insider(step: Step, sealed: Sealed, to: str, decided_by: str = "") -> None:
    """Publish a key entry to one of those inside who act on what people decided: they believe it by the keys that count."""
    fact, signature = receipt(sealed, None), sealed.statement.hash
    step.tell(
        "key.recorded",
        fact,
        key=KEY,
        version=sealed.seq,
        to=to,
        decided_by=decided_by,
        signature_hash=signature,
    )


def append_entry(step: Step, sealed: Sealed, content: bytes | None, decided_by: str) -> None:
    """Write the entry and tell the site; of a key connectors and agent, too."""
    step.writes.add(
        gate_log,
        {
            "seq": sealed.seq,
            "kind": sealed.kind,
            "entry": sealed.entry.payload,
            "signature": sealed.entry.signature,
            "key_id": sealed.entry.key_id,
            "hash": sealed.entry.hash,
            "previous": sealed.previous,
            "item_id": sealed.item_id,
            "revision": sealed.revision,
            "statement": sealed.statement.payload,
            "statement_signature": sealed.statement.signature,
            "statement_key_id": sealed.statement.key_id,
        },
    )
    tell_site(step, sealed, content, decided_by=decided_by)
    if sealed.kind == "key":
        for insider in INSIDERS:
            tell_insider(step, sealed, insider, decided_by)
