"""An owner or admin lets exactly this folder be installed, or refuses it. Signed over the folder's hash (S4)."""

from collections.abc import Callable
from dataclasses import dataclass

from services.console.apps import store
from services.console.apps.package import read_package
from services.console.apps.packages import store as packages
from services.console.apps.packages.domain import Shown, check_reason, check_verdict, check_waiting, read_package_row
from services.console.apps.usecases.offer_app import place_of
from services.console.apps.usecases.share_app import restate_app
from services.console.apps.usecases.sign_approval import Approval, sign_approval
from services.console.apps.views import find_app
from services.console.notices import store as notices
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound
from shared.signing import SigningKey


@dataclass(frozen=True)
class Order:
    """`folder_hash` is what the card showed."""

    folder_hash: str
    verdict: str
    reason: str = ""


async def decide_app(tx: Tx, key: SigningKey, caller: Caller, order: Order, on_changed: Callable[[str], None]) -> str:
    """The app's slug. Plain tables are there at the commit; code is started afterwards, by whoever keeps apps."""
    caller.require("connectors")
    verdict = check_verdict(order.verdict)
    reason = check_reason(order.reason, needed=verdict == "refuse", what="refuse an app")
    row = await packages.one(tx, order.folder_hash, lock=True)
    if row is None:
        raise NotFound("There is no such app to decide about.")
    shown = read_package_row(row, now())
    check_waiting(shown)
    await store.hold(tx, shown.slug)
    if verdict == "install":
        await _install(tx, caller, shown)
        await restate_app(tx, shown.slug, caller.name)
    await sign_approval(tx, key, caller, Approval(shown.slug, order.folder_hash, verdict, reason))
    await packages.put_state(tx, order.folder_hash, "installed" if verdict == "install" else "refused")
    await notices.settle(tx, "card", place_of(order.folder_hash), now())
    if verdict == "install":
        tx.after_commit(lambda: on_changed(shown.slug))
    return shown.slug


async def _install(tx: Tx, caller: Caller, shown: Shown) -> None:
    """What is signed is what lies here: the hash is computed anew from the bytes."""
    package = read_package(await packages.files(tx, shown.folder_hash))
    if package.folder_hash != shown.folder_hash:
        raise Conflict("The app's files are not those that were sent. Nothing was installed; send the folder again.")
    before = await find_app(tx, shown.slug)
    role = await store.free_role(tx, shown.slug, before) if package.has_code else ""
    declaration = package.declaration
    if role and before is not None and not declaration.tables:
        declaration = declaration.model_copy(update={"tables": before.declaration.tables})
    await store.make_tables(tx, declaration, role)
    await store.put_app(tx, declaration, shown.folder_hash, role, caller.name, now())
