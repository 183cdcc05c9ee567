"""Staff let the agent know of an app's tables, or no more. No row of them ever comes with it."""

from schemas.console.v1 import AppStated
from services.agent.drafting import store
from shared.db import Tx


async def keep_app(tx: Tx, stated: AppStated) -> None:
    await store.put_app(tx, stated)
