"""schemas/consumers/vectors.json: sealed events with a key that is everybody's, to try an implementation of the seal on."""

import base64
import hashlib
from pathlib import Path
from typing import Any

from schemas.catalogue import BY_NAME, to_subject
from schemas.envelope import Envelope
from shared.outbox.seal import Sealer
from shared.signing import SigningKey
from tests.contracts.contracts import ROOT, as_text, example_path

PATH = ROOT / "consumers" / "vectors.json"
SIZES = (1, 2, 3, 5, 6)
"""Of the sealed batches: one leaf, whole trees, and those where a node goes up without a sibling."""
READER, EVENT = "site", BY_NAME["item.retracted"]


def a_key(name: str) -> SigningKey:
    """Everybody can make it: it signs nothing but examples."""
    return SigningKey(hashlib.sha256(f"schleuse example {name}".encode()).digest())


def vectors() -> dict[str, Any]:
    """{"keys": as public.json has them, "good": [...], "forged": [...]}, each {"subject", "body", "seal"}; forged ones say why."""
    key, other = a_key("envelope"), a_key("decision")
    good = [each for size in SIZES for each in _batch(Sealer(key), size)]
    keys = {"envelope": [_published(key)], "decision": [_published(other)]}
    return {"keys": keys, "good": good, "forged": _forged(good, Sealer(other))}


def _published(key: SigningKey) -> dict[str, str]:
    return {"key_id": key.key_id, "public_key": base64.b64encode(key.public).decode()}


def _batch(sealer: Sealer, size: int) -> list[dict[str, Any]]:
    subject = to_subject(READER, EVENT.name)
    golden = Envelope.from_bytes(example_path(EVENT, 1).read_bytes())
    bodies = [golden.model_copy(update={"keyversion": number}).to_bytes() for number in range(1, size + 1)]
    seals = sealer.seal([(subject, body) for body in bodies])
    return [{"subject": subject, "body": body.decode(), "seal": seal} for body, seal in zip(bodies, seals, strict=True)]


def _forged(good: list[dict[str, Any]], other: Sealer) -> list[dict[str, Any]]:
    one, two = good[0], good[1]
    last = good[-1]
    words = last["seal"].split(" ")
    cut = base64.b64encode(base64.b64decode(words[5])[:-32]).decode()
    changes: dict[str, dict[str, Any]] = {
        "no seal at all": {"seal": ""},
        "another body": {"body": one["body"].replace('"keyversion":1', '"keyversion":9')},
        "one more space in the body": {"body": one["body"] + " "},
        "another subject": {"subject": to_subject(READER, "item.published")},
        "the seal of another event": {"seal": last["seal"]},
        "a key of another duty": {"seal": other.seal([(one["subject"], one["body"].encode())])[0]},
        "another place in the tree": two | {"seal": two["seal"].replace(" 0 2 ", " 1 2 ")},
        "a shorter path": last | {"seal": " ".join([*words[:5], cut])},
        "a place outside the tree": last | {"seal": " ".join([*words[:3], words[4], *words[4:]])},
        "another version of the seal": {"seal": "2" + one["seal"][1:]},
        "a key that nobody knows": {"seal": " ".join(["1", "0" * 16, *one["seal"].split(" ")[2:]])},
        "no numbers": {"seal": " ".join([*words[:3], "x", *words[4:]])},
    }
    return [{"why": why, **one, **change} for why, change in changes.items()]


def write(path: Path = PATH) -> None:
    path.write_text(as_text(vectors()))
