"""A receipt for people and for programs: both signatures, the hashes, and how they belong together (S1, S6)."""

import json
from base64 import b64encode
from typing import Any

from schemas.statements import Decision, GateEntry
from services.site.publication.domain import Published, Row
from services.site.reading.words import Words
from shared.signing import PublicKeys

Rows = list[tuple[str, str, bool]]
_NAMES = {
    "en": {
        "decision": "The person's decision",
        "gate": "The lock's entry",
        "verdict": "Verdict",
        "decided": "Decided",
        "revision": "Revision",
        "content": "SHA-256 of the content",
        "who": "Who decided (sealed; opened inside only)",
        "statement": "SHA-256 of the decision",
        "signature": "Ed25519 signature",
        "key": "Key",
        "entered": "Entered",
        "seq": "Place in the gate's log",
        "previous": "SHA-256 of the entry before",
        "entry": "SHA-256 of the entry",
    },
    "de": {
        "decision": "Die Entscheidung des Menschen",
        "gate": "Der Eintrag der Schleuse",
        "verdict": "Urteil",
        "decided": "Entschieden",
        "revision": "Fassung",
        "content": "SHA-256 des Inhalts",
        "who": "Wer entschied (versiegelt; nur innen zu öffnen)",
        "statement": "SHA-256 der Entscheidung",
        "signature": "Ed25519-Unterschrift",
        "key": "Schlüssel",
        "entered": "Eingetragen",
        "seq": "Platz im Protokoll der Schleuse",
        "previous": "SHA-256 des Eintrags davor",
        "entry": "SHA-256 des Eintrags",
    },
}


def receipt_parts(row: Row, words: Words) -> list[tuple[str, Rows]]:
    """Headings with (name, value, is code), read from the signed bytes."""
    names = _NAMES[words.lang]
    decision, entry = Decision.from_bytes(row.statement.payload), GateEntry.from_bytes(row.gate.payload)
    decided: Rows = [
        (names["verdict"], decision.verdict, True),
        (names["decided"], f"{words.date(decision.decided_at)}, {decision.decided_at:%H:%M:%S} UTC", False),
        (names["revision"], str(decision.revision), False),
        (names["content"], decision.content_hash, True),
        (names["who"], decision.decider, True),
        (names["statement"], row.statement.hash, True),
        (names["signature"], b64encode(row.statement.signature).decode(), True),
        (names["key"], row.statement.key_id, True),
    ]
    entered: Rows = [
        (names["seq"], str(entry.seq), False),
        (names["entered"], f"{words.date(entry.at)}, {entry.at:%H:%M:%S} UTC", False),
        (names["statement"], entry.statement_hash, True),
        (names["previous"], entry.previous, True),
        (names["entry"], row.gate.hash, True),
        (names["signature"], b64encode(row.gate.signature).decode(), True),
        (names["key"], row.gate.key_id, True),
    ]
    return [(names["decision"], decided), (names["gate"], entered)]


def receipt_json(item: Published, row: Row, keys: PublicKeys) -> bytes:
    """Exact bytes in base64, with the public keys: enough to check everything elsewhere."""
    found: dict[str, Any] = {
        "item_id": str(item.item_id),
        "url": item.url,
        "content": row.content,
        "decision": row.statement.payload,
        "decision_signature": row.statement.signature,
        "decision_key_id": row.statement.key_id,
        "decision_public_key": keys.raw("decision", row.statement.key_id),
        "gate": row.gate.payload,
        "gate_signature": row.gate.signature,
        "gate_key_id": row.gate.key_id,
        "gate_public_key": keys.raw("gate", row.gate.key_id),
    }
    plain = {name: b64encode(value).decode() if isinstance(value, bytes) else value for name, value in found.items()}
    return json.dumps(plain, indent=1).encode()
