"""Keys by duty (S3): one folder per service, 0700, its files 0600; the public halves in keys/public.json.

The public half is written before the private folder appears, so a start that was killed in between makes both anew and the two never disagree.
"""

import base64
import hashlib
import json
import secrets
from typing import Any

import nkeys

from infra.local import folders
from infra.local.folders import Owner
from infra.local.identities import Identities
from infra.local.layout import PUBLISHED_DUTIES, SIGNING_KEYS, Layout
from schemas.catalogue import SERVICES
from shared.ids import new_token
from shared.signing import SigningKey

Public = dict[str, dict[str, str]]


def make_keys(layout: Layout, who: Identities, me: Owner) -> None:
    """Make what is missing; existing keys are never touched."""
    folders.folder(layout.keys, 0o755, me)
    for service in SERVICES:
        _service_keys(layout, service, who.owner(service))
    _service_keys(layout, "admin", me)
    if not layout.operator_token.exists():
        folders.write(layout.operator_token, new_token(), 0o600, me)
    if not layout.ingest_token.exists():
        folders.write(layout.ingest_token, new_token(), 0o640, (me[0], who.gids["site"]))


def bus_users(layout: Layout) -> dict[str, str]:
    """The public nkey of each service and of `admin`."""
    return {name: _public(layout, name)["bus"]["public_key"] for name in (*SERVICES, "admin")}


def publish(layout: Layout, me: Owner) -> None:
    """Write keys/public.json from the public halves and the bus certificate."""
    found: dict[str, Any] = {duty: [] for duty in PUBLISHED_DUTIES}
    for service, duties in SIGNING_KEYS.items():
        for duty in set(duties) & set(PUBLISHED_DUTIES):
            found[duty].append(_public(layout, service)[duty])
    found["nats_ca_sha256"] = hashlib.sha256((layout.tls / "ca.pem").read_bytes()).hexdigest()
    folders.write(layout.public_keys, json.dumps(found, indent=1, sort_keys=True), 0o644, me)


def _service_keys(layout: Layout, service: str, owner: Owner) -> None:
    place = layout.keys / service
    if place.exists() and (layout.keys / f"{service}.pub.json").exists():
        folders.check_folder(place, 0o700, owner)
        return
    files, public = _bus_key()
    for duty in SIGNING_KEYS.get(service, ()):
        seed = secrets.token_bytes(32)
        key = SigningKey(seed)
        files[f"{duty}.key"] = base64.b64encode(seed).decode()
        public[duty] = {"key_id": key.key_id, "public_key": base64.b64encode(key.public).decode()}
    folders.write(layout.keys / f"{service}.pub.json", json.dumps(public), 0o644)
    folders.filled_folder(place, files, owner)


def _bus_key() -> tuple[dict[str, str], Public]:
    seed = nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER)
    public = nkeys.from_seed(seed).public_key.decode()
    return {"bus.nk": seed.decode()}, {"bus": {"key_id": public, "public_key": public}}


def _public(layout: Layout, service: str) -> Public:
    found: Public = json.loads((layout.keys / f"{service}.pub.json").read_text())
    return found
