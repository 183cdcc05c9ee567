"""The keys, apart from the backups: keys/ and tls/ in one age file. Restoring needs a backup and this; neither opens the other."""

import base64
import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.backup import entries
from infra.backup.sealing import Identities, Recipients
from infra.backup.take import Source
from infra.local import folders
from infra.local.folders import Owner
from infra.local.identities import Identities as Users
from infra.local.layout import SHARED_KEYS, Layout
from schemas.catalogue import SERVICES
from shared.clock import now
from shared.errors import Refused
from shared.signing import PublicKeys, SigningKey

FORMAT = 1
ABOUT = "about.json"
FOLDERS = (*SERVICES, "admin")
LARGEST = 16 * 1024**2


def save(made: Source, path: Path, recipients: Recipients) -> dict[str, Any]:
    """{"file", "bytes", "keys"}. The file appears whole, 0600. Refused where it would overwrite one, or lie in the state directory."""
    layout, path = made.layout, path.resolve()
    if layout.state in path.parents:
        raise Refused(f"{path} lies in the state directory: it would be lost with it", code="inside")
    if path.exists():
        raise Refused(f"{path} exists; name a new file, and remove the old one when this one is safe", code="exists")
    packed = _pack(layout, made.settings.install_id)
    folders.write(path, recipients.seal(packed), 0o600)
    entries.fsync_folder(path.parent)
    return {"file": str(path), "bytes": path.stat().st_size, "keys": len(_files(layout))}


@dataclass(frozen=True)
class KeyFile:
    """What was read from one: file contents by their place in the state directory."""

    install_id: str
    at: str
    files: dict[str, bytes]

    def __repr__(self) -> str:
        return f"KeyFile({self.install_id}, {self.at}, {len(self.files)} files)"

    @classmethod
    def read(cls, path: Path, identities: Identities) -> "KeyFile":
        """Refused when it is not one, or cannot be read with these identities."""
        try:
            if path.stat().st_size > LARGEST:
                raise Refused(f"{path} is too large to be a key file", code="keys")
            packed = identities.open(path.read_bytes(), str(path))
        except FileNotFoundError:
            raise Refused(f"there is no key file {path}", code="keys") from None
        try:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                files = {str(entries.checked(each.name)): _content(archive, each) for each in archive if each.isreg()}
            about = json.loads(files.pop(ABOUT))
            return cls(str(about["install_id"]), str(about["at"]), files)
        except (tarfile.TarError, ValueError, KeyError) as error:
            raise Refused(
                f"{path} is no key file (`schleuse backup keys FILE` makes one): {error}", code="keys"
            ) from None

    def public_keys(self) -> PublicKeys:
        """The installation's public keys, from the same file: what the backup's signature is checked against."""
        found: dict[str, dict[str, bytes]] = {}
        for duty, listed in json.loads(self.files["keys/public.json"]).items():
            if isinstance(listed, list):
                found[duty] = {each["key_id"]: _decoded(each["public_key"]) for each in listed}
        return PublicKeys(found)

    def decision_keys(self) -> set[str]:
        """Ids of the decision keys whose private halves are here."""
        names = [name for name in self.files if name.startswith("keys/console/decision") and name.endswith(".key")]
        return {SigningKey(_decoded(self.files[name].decode().strip())).key_id for name in names}

    def opens_secrets(self) -> bool:
        """Whether it holds what sealed secrets are opened with; key files of the first releases do not."""
        return "keys/connectors/secrets.key" in self.files

    def put(self, layout: Layout, who: Users, me: Owner) -> None:
        """Write everything, given to the OS users of this machine."""
        folders.folder(layout.keys, 0o755, me)
        for service in FOLDERS:
            owner = me if service == "admin" else who.owner(service)
            inside = f"keys/{service}/"
            held = {name.removeprefix(inside): data.decode() for name, data in self.files.items() if name.startswith(inside)}  # fmt: skip
            folders.write(layout.keys / f"{service}.pub.json", self.files[f"keys/{service}.pub.json"], 0o644, me)
            folders.filled_folder(layout.keys / service, held, owner)
        folders.write(layout.public_keys, self.files["keys/public.json"], 0o644, me)
        folders.write(layout.operator_token, self.files["keys/operator.token"], 0o600, me)
        folders.write(layout.ingest_token, self.files["keys/ingest.token"], 0o640, (me[0], who.gids["site"]))
        folders.write(layout.tls / "nats.key", self.files["tls/nats.key"], 0o600, who.owner("nats"))
        folders.write(layout.tls / "ca.pem", self.files["tls/ca.pem"], 0o644, me)


def _pack(layout: Layout, install_id: str) -> bytes:
    out = io.BytesIO()
    about = {"format": FORMAT, "install_id": install_id, "at": now().isoformat(timespec="seconds")}
    entries.add_bytes(out, ABOUT, json.dumps(about).encode())
    for name, path in _files(layout):
        entries.add_file(out, path, name, lambda _: None)
    entries.end(out)
    return out.getvalue()


def _files(layout: Layout) -> list[tuple[str, Path]]:
    found = []
    for top in (layout.keys, layout.tls):
        for name, path, is_folder in entries.walk(top, _is_left_out):
            if not is_folder:
                found.append((f"{top.name}/{name}", path))
    return found


def _is_left_out(name: str) -> bool:
    """What is in the making, and the keys of fingerprints, which a start makes anew (S14)."""
    return ".new-" in name or name.rpartition("/")[2] in SHARED_KEYS


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    reading = archive.extractfile(entry)
    assert reading is not None, "it is a regular file"
    return reading.read()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
