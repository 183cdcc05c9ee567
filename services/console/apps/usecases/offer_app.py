"""A folder is sent as an app, and waits for an owner or admin (rule 28). None of it is run or imported."""

from collections.abc import Mapping

from services.console.apps.domain import InstalledApp
from services.console.apps.package import Package, read_package
from services.console.apps.packages import store
from services.console.apps.packages.domain import CARD_LIFE
from services.console.apps.views import find_app
from services.console.notices import store as notices
from services.console.notices.domain import Notice
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict


async def offer_app(tx: Tx, caller: Caller, files: Mapping[str, bytes]) -> tuple[Package, bool]:
    """The package, and whether it waits now; False when exactly this folder is installed already."""
    caller.require("connectors")
    package = read_package(files)
    slug, at = package.declaration.slug, now()
    before = await find_app(tx, slug)
    _check_sort(before, package)
    if before is not None and before.folder_hash == package.folder_hash and before.state == "installed":
        return package, False
    replaced = await store.add(tx, package, caller.name, at, at + CARD_LIFE)
    for old in replaced:
        await notices.settle(tx, "card", place_of(old), at)
    text = f"The app {slug} waits for a decision: {package.declaration.title}"[:500]
    told = [Notice(each, "card", text, place_of(package.folder_hash)) for each in await notices.deciders(tx)]
    if told:
        await notices.add(tx, told, at)
    await store.prune(tx, at)
    return package, True


def place_of(folder_hash: str) -> str:
    return f"/cards/apps/{folder_hash}"


def _check_sort(before: InstalledApp | None, package: Package) -> None:
    if before is not None and before.has_code and not package.has_code:
        raise Conflict(
            f"{before.slug} is installed with code, and this folder has none; choose another slug.", code="app"
        )
