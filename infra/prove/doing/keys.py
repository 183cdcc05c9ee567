"""What a service does with its own keys: {"op": "sign" | "token" | "seal" | "public", "as", …}. A private key never leaves the process.

`sign`: `file`, `purpose`, `payload` (base64) -> {"signature", "key_id"}. `token`: `file`, `signed` (a JWT's first two parts) -> the JWT. `seal`: `subject`, `body` -> the header's value. `public`: {file: public key, hex or age1…}.
"""

import base64
import json
from pathlib import Path
from typing import Any

import nkeys
import pyrage
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from infra.local.layout import LINK_KEYS, SEALING_KEYS, SHARED_KEYS
from schemas.text import sha256
from shared.outbox.seal import Sealer
from shared.settings import Settings
from shared.signing import SigningKey

SEALED = {duty for duties in SEALING_KEYS.values() for duty in duties}
HASHED = {duty for duties in LINK_KEYS.values() for duty in duties}


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"got": "done", "value": OPERATIONS[each["op"]](Settings.load(each["as"], state), each)} for each in attempts
    ]


def _sign(settings: Settings, each: dict[str, Any]) -> Any:
    key = SigningKey.load(settings.keys / each["file"])
    signature = key.sign_bytes(each["purpose"], base64.b64decode(each["payload"]))
    return {"signature": base64.b64encode(signature).decode(), "key_id": key.key_id}


def _token(settings: Settings, each: dict[str, Any]) -> Any:
    seed = base64.b64decode((settings.keys / each["file"]).read_text().strip())
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(each["signed"].encode())
    return f"{each['signed']}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


def _seal(settings: Settings, each: dict[str, Any]) -> Any:
    key = SigningKey.load(settings.keys / f"{each.get('duty', 'envelope')}.key")
    return Sealer(key).seal([(each["subject"], each["body"].encode())])[0]


def _public(settings: Settings, _: dict[str, Any]) -> Any:
    found = {path.name: _half(path) for path in sorted(settings.keys.glob("*.key"))}
    pair = nkeys.from_seed(bytearray((settings.keys / "bus.nk").read_text().strip(), "ascii"))
    found["bus.nk"] = base64.b32decode(pair.public_key + b"=" * (-len(pair.public_key) % 8))[1:33].hex()
    published = json.loads((settings.state / "keys" / f"{settings.service}.pub.json").read_text())
    return {
        "files": found,
        "published": {duty: each["public_key"] for duty, each in published.items() if "public_key" in each},
    }


def _half(path: Path) -> str:
    """The public half; of a key that has none, a hash that says whether it is the same as another."""
    if path.name in SHARED_KEYS or path.stem in HASHED:
        return sha256(path.read_bytes())
    if path.stem in SEALED:
        return str(pyrage.x25519.Identity.from_str(path.read_text().strip()).to_public())
    return SigningKey.load(path).public.hex()


OPERATIONS = {"sign": _sign, "token": _token, "seal": _seal, "public": _public}
