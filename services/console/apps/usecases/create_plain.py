"""Install an app of plain tables, or more tables and columns for one, from its declaration alone: no folder, no code."""

from collections.abc import Callable

from schemas.work import AppDeclaration
from services.console.apps import store
from services.console.apps.domain import InstalledApp, check_declaration
from services.console.apps.usecases.share_app import restate_app
from services.console.apps.usecases.sign_approval import Approval, sign_approval
from services.console.apps.views import find_app, get_app
from services.console.people.domain import Caller
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict
from shared.signing import SigningKey


async def create_plain(
    tx: Tx,
    declaration: AppDeclaration,
    by: Caller,
    key: SigningKey,
    *,
    reason: str = "",
    on_changed: Callable[[str], None] | None = None,
) -> InstalledApp:
    """The app as it is then. `by` decided it: an owner or admin (rule 28); signed with the decision key, over the declaration's hash.

    Refused for what cannot be made; Conflict when an app with code has this slug. `on_changed`: of the Catalogue, called after the commit.
    """
    by.require("connectors")
    check_declaration(declaration)
    await store.hold(tx, declaration.slug)
    before = await find_app(tx, declaration.slug)
    if before is not None and before.has_code:
        raise Conflict(f"{declaration.slug} is an app with code; its tables are declared in its folder.", code="app")
    await store.make_tables(tx, declaration, "")
    await store.put_app(tx, declaration, declaration.hash, "", by.name, now())
    await sign_approval(tx, key, by, Approval(declaration.slug, declaration.hash, "install", reason))
    await restate_app(tx, declaration.slug, by.name)
    if on_changed is not None:
        tx.after_commit(lambda: on_changed(declaration.slug))
    return await get_app(tx, declaration.slug)
