"""An app is taken out of service, or back into it. Its tables and rows stay. Signed like its installation."""

from collections.abc import Callable

from services.console.apps import store
from services.console.apps.packages.domain import check_reason
from services.console.apps.usecases.share_app import restate_app
from services.console.apps.usecases.sign_approval import Approval, sign_approval
from services.console.apps.views import get_app
from services.console.people.domain import Caller
from shared.db import Tx
from shared.errors import Conflict
from shared.signing import SigningKey


async def stop_app(
    tx: Tx, key: SigningKey, caller: Caller, slug: str, reason: str, on_changed: Callable[[str], None]
) -> None:
    caller.require("connectors")
    why = check_reason(reason, needed=True, what="stop an app")
    await store.hold(tx, slug)
    app = await get_app(tx, slug)
    if app.state == "stopped":
        raise Conflict(f"{slug} is stopped already. Nothing was changed.", code="stopped")
    await sign_approval(tx, key, caller, Approval(slug, app.folder_hash, "stop", why))
    await store.put_state(tx, slug, "stopped", f"{caller.name}: {why}")
    await restate_app(tx, slug, caller.name)
    tx.after_commit(lambda: on_changed(slug))


async def start_app(tx: Tx, key: SigningKey, caller: Caller, slug: str, on_changed: Callable[[str], None]) -> None:
    """By exactly the folder that was approved last."""
    caller.require("connectors")
    await store.hold(tx, slug)
    app = await get_app(tx, slug)
    if app.state == "installed":
        raise Conflict(f"{slug} is in service. Nothing was changed.", code="started")
    await sign_approval(tx, key, caller, Approval(slug, app.folder_hash, "install"))
    await store.put_state(tx, slug, "installed")
    await restate_app(tx, slug, caller.name)
    tx.after_commit(lambda: on_changed(slug))
