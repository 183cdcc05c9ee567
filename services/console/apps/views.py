"""Reading which apps there are. `Catalogue` is for parts that hold no transaction, `find_app` and `list_apps` for those that do."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from asyncpg import Record

from schemas.text import parse_json, text_fault
from schemas.work import AppDeclaration
from services.console.apps.domain import InstalledApp
from shared.db import Database, Tx
from shared.errors import NotFound

_APPS = "SELECT slug, declaration, state, reason, version, folder_hash, role, shared, by_name, installed_at, page_paths, described_version FROM app.apps"
_ALL = f"{_APPS} ORDER BY slug"
_ONE = f"{_APPS} WHERE slug = $1"


async def find_app(tx: Tx, slug: str) -> InstalledApp | None:
    row = None if text_fault(slug) else await tx.raw.fetchrow(_ONE, slug)
    return None if row is None else _read(row)


async def get_app(tx: Tx, slug: str) -> InstalledApp:
    """NotFound when there is none."""
    found = await find_app(tx, slug)
    if found is None:
        raise NotFound(f"There is no app {slug}; `schleuse apps list` shows those that are installed.", code="app")
    return found


async def list_apps(tx: Tx) -> list[InstalledApp]:
    """All of them, by slug; also those that are stopped or broken."""
    return [_read(row) for row in await tx.raw.fetch(_ALL)]


class Catalogue:
    """The apps of this console. `listen`: called with a slug after an app was installed, changed, stopped or started, in this process."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._listening: list[Callable[[str], None]] = []

    async def app(self, slug: str) -> InstalledApp | None:
        async with self._db.reading() as tx:
            return await find_app(tx, slug)

    async def apps(self) -> list[InstalledApp]:
        async with self._db.reading() as tx:
            return await list_apps(tx)

    def listen(self, hear: Callable[[str], None]) -> None:
        self._listening.append(hear)

    def on_changed(self, slug: str) -> None:
        """After the commit."""
        for hear in self._listening:
            hear(slug)


def _read(row: Record) -> InstalledApp:
    fields: dict[str, Any] = dict(row)
    paths = fields.pop("page_paths")
    fields["pages"] = () if paths is None else tuple(paths.split("\n"))
    return InstalledApp(**{**fields, "declaration": _declaration(row["declaration"]), "role": row["role"] or ""})


@lru_cache(maxsize=100)
def _declaration(raw: bytes) -> AppDeclaration:
    """Kept by its bytes: one of 500 columns takes milliseconds to read."""
    return AppDeclaration.model_validate(parse_json(raw))
