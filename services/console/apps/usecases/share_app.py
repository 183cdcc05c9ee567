"""Staff let the agent know of an app (its tables and columns, no rows), or take that back."""

from collections.abc import Callable

from schemas.console.v1 import AppStated
from services.console.apps import store
from services.console.apps.domain import InstalledApp
from services.console.apps.views import get_app
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Tx


async def share_app(tx: Tx, caller: Caller, slug: str, *, shared: bool, on_changed: Callable[[str], None]) -> None:
    """Idempotent: the same again tells the agent once more."""
    caller.require("share")
    await store.hold(tx, slug)
    await state_app(tx, await get_app(tx, slug), shared=shared, actor=caller.name)
    tx.after_commit(lambda: on_changed(slug))


async def state_app(tx: Tx, app: InstalledApp, *, shared: bool, actor: str) -> None:
    """Tell the agent how it stands. A stopped app is none that it could use."""
    number = await store.put_shared(tx, app.slug, shared=shared)
    known = shared and app.state == "installed"
    said = AppStated(slug=app.slug, shared=known, declaration=app.declaration if known else None, at=now(), version=number)  # fmt: skip
    tx.stage("app.stated", said, key=f"app:{app.slug}", version=number, actor=actor)


async def restate_app(tx: Tx, slug: str, actor: str) -> None:
    """After a change: if the agent knows of it, what it knows is told anew."""
    app = await get_app(tx, slug)
    if app.shared:
        await state_app(tx, app, shared=True, actor=actor)
