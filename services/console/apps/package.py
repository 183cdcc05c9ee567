"""What was sent as an app: read from bytes, never imported. Pure."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from schemas.text import text_fault
from schemas.work import AppDeclaration
from services.console.apps.domain import check_declaration
from shared.apps.folder import MANIFEST, BadFolder, check_folder, folder_hash, has_code
from shared.errors import Refused


@dataclass(frozen=True)
class Package:
    """`declaration`: what app.toml says; the tables of an app with code may stand in models.py, which nobody reads before it is approved."""

    declaration: AppDeclaration
    folder_hash: str
    has_code: bool
    files: Mapping[str, bytes]

    @property
    def size(self) -> int:
        return sum(map(len, self.files.values()))


def read_package(files: Mapping[str, bytes]) -> Package:
    """Refused, saying what is wrong where."""
    try:
        check_folder(files)
    except BadFolder as fault:
        raise Refused(f"The app's folder cannot be taken: {fault}.", code="folder") from None
    declaration = read_manifest(files[MANIFEST])
    if not has_code(files) and not declaration.tables:
        raise Refused("The app has neither tables in app.toml nor code: there is nothing to install.", code="folder")
    return Package(check_declaration(declaration), folder_hash(files), has_code(files), files)


def read_manifest(raw: bytes) -> AppDeclaration:
    try:
        text = raw.decode("utf-8")
        if fault := text_fault(text):
            raise Refused(f"app.toml: {fault}.", code="folder")
        return AppDeclaration.model_validate(tomllib.loads(text))
    except UnicodeDecodeError as error:
        raise Refused(f"app.toml is not UTF-8 (byte {error.start}).", code="folder") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Refused(f"app.toml cannot be read: {error}.", code="folder") from None
    except ValidationError as error:
        raise Refused(f"app.toml: {faults(error)}.", code="folder") from None


def faults(error: ValidationError) -> str:
    """The first few, each with its place."""
    said = [
        f"{'.'.join(str(part) for part in each['loc']) or 'the whole'}: {each['msg']}" for each in error.errors()[:5]
    ]
    return "; ".join(said)
