"""The manifest: what a backup holds, signed by the installation's backup key (S12). A whole backup has one; anything else is none."""

import hashlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from infra.local import folders
from schemas.text import BadJson, canonical, parse_json
from shared.errors import BadSignature, Refused
from shared.signing import PublicKeys, SigningKey

FORMAT = 1
DUTY = "backup"
PURPOSE = "schleuse.backup.v1"
NAME, SIGNATURE = "manifest.json", "manifest.sig"
WHOLE = "data"
"""The folder below a backup's own that holds a whole backup; `.partial` beside it is one that is being made."""
PARTIAL = ".partial"
_PIECE = 1024**2


class Stored(BaseModel):
    """One file. `plain`: bytes before encryption."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: int
    sha256: str
    plain: int


class Manifest(BaseModel):
    """`gate_seq` and `gate_hash`: the gate's log at the databases' point (at least). `streams`: by name the first and last sequence saved."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int = FORMAT
    install_id: str
    release: str
    state_version: int
    postgres: str
    at: datetime
    gate_seq: int
    gate_hash: str
    decision_position: int
    streams: dict[str, tuple[int, int]] | None
    databases: dict[str, int]
    recipients: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    files: dict[str, Stored]

    def to_bytes(self) -> bytes:
        return canonical(self.model_dump(mode="json"))


def write(folder: Path, manifest: Manifest, key: SigningKey) -> None:
    data = manifest.to_bytes()
    _new_file(folder / SIGNATURE, f"{key.key_id} {key.sign_bytes(PURPOSE, data).hex()}".encode())
    _new_file(folder / NAME, data)


def whole(directory: Path) -> Path:
    """The folder of a whole backup. Refused when there is none."""
    if (directory / WHOLE / NAME).is_file():
        return directory / WHOLE
    if (directory / PARTIAL).exists():
        raise Refused(
            f"{directory} holds only a backup that was never finished; make a new one, or name another folder",
            code="partial",
        )
    raise Refused(f"{directory} holds no backup", code="no_backup")


def read(folder: Path, keys: PublicKeys) -> Manifest:
    """Refused unless the installation's backup key signed exactly this manifest, and this program knows its format."""
    data = _read(folder / NAME)
    _refuse_newer(data)
    try:
        key_id, signature = _read(folder / SIGNATURE).decode().split()
        keys.verify_bytes(DUTY, key_id, PURPOSE, data, bytes.fromhex(signature))
    except (ValueError, BadSignature) as error:
        raise Refused(
            f"the manifest in {folder} is not signed by this installation's backup key ({error}): it was changed, or belongs to another installation. Nothing was changed.",
            code="manifest",
        ) from None
    try:
        return Manifest.model_validate(parse_json(data))
    except (BadJson, ValidationError) as error:
        raise Refused(f"the manifest in {folder} cannot be read: {error}"[:500], code="manifest") from None


def check_files(folder: Path, manifest: Manifest, read_so_far: Callable[[int], None] = lambda _: None) -> None:
    """Every file is there, as long as it was, byte for byte, and nothing else is. Refused names the first that is not right."""
    known = {*manifest.files, NAME, SIGNATURE}
    if strangers := sorted(path.name for path in folder.iterdir() if path.name not in known):
        raise Refused(f"{folder} holds what the manifest does not name: {', '.join(strangers[:3])}", code="mixed")
    for name, stored in manifest.files.items():
        path = folder / name
        if not path.is_file() or path.is_symlink():
            raise Refused(f"{path} is missing. Nothing was changed.", code="missing")
        if path.stat().st_size != stored.size:
            raise Refused(
                f"{path} has {path.stat().st_size} bytes and must have {stored.size}: it was cut or belongs to another backup. Nothing was changed.",
                code="truncated",
            )
        if _hash(path, read_so_far) != stored.sha256:
            raise Refused(
                f"{path} is not the file that was backed up: it was changed or swapped. Nothing was changed.",
                code="tampered",
            )


def _refuse_newer(data: bytes) -> None:
    """Before the signature, whose form a newer one may not share."""
    try:
        found: Any = parse_json(data)
    except BadJson as error:
        raise Refused(f"the manifest cannot be read: {error}. Nothing was changed.", code="manifest") from None
    number = found.get("format") if isinstance(found, dict) else None
    if isinstance(number, int) and number > FORMAT:
        raise Refused(
            f"this backup has format {number}; this program knows {FORMAT}. Restore it with the release that made it, or a later one. Nothing was changed.",
            code="newer",
        )


def _hash(path: Path, read_so_far: Callable[[int], None]) -> str:
    found = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_PIECE):
            found.update(piece)
            read_so_far(len(piece))
    return found.hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Refused(f"{path} is missing: this is no whole backup. Nothing was changed.", code="missing") from None


def _new_file(path: Path, data: bytes) -> None:
    folders.write(path, data, 0o600)
