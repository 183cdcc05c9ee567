"""Keys by duty (S3): one folder per service, 0700, its files 0600; the public halves in keys/public.json.

The public half is written before the private one appears, so a start that was killed in between makes or finishes both, and the two never disagree. A duty
that is newer than the installation gets its key at the next start; a key that was deleted (a revoked decision key) is never made again.
"""

import base64
import hashlib
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import nkeys
import pyrage

from infra.local import folders
from infra.local.folders import Owner
from infra.local.identities import Identities
from infra.local.layout import (
    FINGERPRINT,
    FINGERPRINT_HOLDERS,
    LEAKS,
    LEAKS_HOLDERS,
    LINK_KEYS,
    PUBLISHED_DUTIES,
    SEALING_KEYS,
    SIGNING_KEYS,
    Layout,
)
from schemas.catalogue import SERVICES
from shared.clock import now
from shared.ids import new_token
from shared.signing import SigningKey

Public = dict[str, dict[str, str]]
LEAKS_AGE = timedelta(days=7)


def make_keys(layout: Layout, who: Identities, me: Owner, *, cluster: bool = False) -> None:
    """Make what is missing; existing keys are never touched."""
    folders.folder(layout.keys, 0o755, me)
    for service in SERVICES:
        _service_keys(layout, service, who.owner(service))
    _service_keys(layout, "admin", me)
    _fingerprint_key(layout, who)
    _leak_key(layout, who)
    if cluster:
        _service_keys(layout, "pacer", me)
    if not layout.operator_token.exists():
        folders.write(layout.operator_token, new_token(), 0o600, me)
    if not layout.ingest_token.exists():
        folders.write(layout.ingest_token, new_token(), 0o640, (me[0], who.gids["site"]))


def bus_users(layout: Layout, *, cluster: bool = False) -> dict[str, str]:
    """The public nkey of each service and of `admin`, in a cluster of `pacer`, too."""
    names = (*SERVICES, "admin", *(("pacer",) if cluster else ()))
    return {name: _public(layout, name)["bus"]["public_key"] for name in names}


def publish(layout: Layout, me: Owner) -> None:
    """Write keys/public.json from the public halves and the bus certificate."""
    found: dict[str, Any] = {duty: [] for duty in PUBLISHED_DUTIES}
    for service, duties in SIGNING_KEYS.items():
        for duty in set(duties) & set(PUBLISHED_DUTIES):
            found[duty].append(_public(layout, service)[duty])
    found["secrets_recipient"] = _public(layout, "connectors")["secrets"]["public_key"]
    found["nats_ca_sha256"] = hashlib.sha256((layout.tls / "ca.pem").read_bytes()).hexdigest()
    folders.write(layout.public_keys, json.dumps(found, indent=1, sort_keys=True), 0o644, me)


def _service_keys(layout: Layout, service: str, owner: Owner) -> None:
    place = layout.keys / service
    if place.exists() and _public_file(layout, service).exists():
        folders.check_folder(place, 0o700, owner)
        _add_duties(layout, service, owner)
        return
    files, public = _bus_key()
    for duty, make in _duties(service):
        files[f"{duty}.key"], public[duty] = make()
    folders.write(_public_file(layout, service), json.dumps(public), 0o644)
    folders.filled_folder(place, files, owner)


def _add_duties(layout: Layout, service: str, owner: Owner) -> None:
    """Keys of duties that came with a later release. The private half waits under another name until the public one is written."""
    place, public = layout.keys / service, _public(layout, service)
    for duty, make in _duties(service):
        name, waiting = f"{duty}.key", f".new-{duty}.key"
        if duty not in public:
            private, public[duty] = make()
            folders.put_inside(place, waiting, private, owner)
            folders.write(_public_file(layout, service), json.dumps(public), 0o644)
        folders.rename_inside(place, waiting, name)


def _duties(service: str) -> list[tuple[str, Callable[[], tuple[str, dict[str, str]]]]]:
    """(duty, what makes its key)."""
    signing: list[tuple[str, Callable[[], tuple[str, dict[str, str]]]]] = [
        (duty, _signing_key) for duty in SIGNING_KEYS.get(service, ())
    ]
    others = [(SEALING_KEYS, _sealing_key), (LINK_KEYS, link_key)]
    return [*signing, *((duty, make) for held, make in others for duty in held.get(service, ()))]


def _fingerprint_key(layout: Layout, who: Identities) -> None:
    """Made anew at every start: fingerprints of an earlier key are worth nothing, and neither is a stolen one (S14)."""
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    for service in FINGERPRINT_HOLDERS:
        folders.put_inside(layout.keys / service, FINGERPRINT, key, who.owner(service))


def _leak_key(layout: Layout, who: Identities) -> None:
    """Kept for a week, since every internal value is fingerprinted anew with another one (S14). Half-written: made anew for both."""
    files = [layout.keys / service / LEAKS for service in LEAKS_HOLDERS]
    with suppress(OSError):
        young = all(now().timestamp() - each.stat().st_mtime < LEAKS_AGE.total_seconds() for each in files)
        if young and len({each.read_bytes() for each in files}) == 1:
            return
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    for service in LEAKS_HOLDERS:
        folders.put_inside(layout.keys / service, LEAKS, key, who.owner(service))


def _sealing_key() -> tuple[str, dict[str, str]]:
    """(age identity, its public half), as Debian's age reads them."""
    identity = pyrage.x25519.Identity.generate()
    recipient = str(identity.to_public())
    return f"{identity}\n", {"key_id": hashlib.sha256(recipient.encode()).hexdigest()[:16], "public_key": recipient}


def link_key() -> tuple[str, dict[str, str]]:
    """(a line of the key file: id and secret, the id)."""
    key_id = secrets.token_hex(4)
    return f"{key_id} {new_token()}\n", {"key_id": key_id}


def _signing_key() -> tuple[str, dict[str, str]]:
    """(private file, public half)."""
    seed = secrets.token_bytes(32)
    key = SigningKey(seed)
    return base64.b64encode(seed).decode(), {
        "key_id": key.key_id,
        "public_key": base64.b64encode(key.public).decode(),
    }


def _bus_key() -> tuple[dict[str, str], Public]:
    seed = nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER)
    public = nkeys.from_seed(seed).public_key.decode()
    return {"bus.nk": seed.decode()}, {"bus": {"key_id": public, "public_key": public}}


def _public_file(layout: Layout, service: str) -> Path:
    return layout.keys / f"{service}.pub.json"


def _public(layout: Layout, service: str) -> Public:
    found: Public = json.loads(_public_file(layout, service).read_text())
    return found
