"""An owner takes a link back: it opens nothing from now on."""

from uuid import UUID

from services.agent.downloads import store
from services.agent.downloads.domain import missing
from services.agent.owners.domain import Me
from shared.db import Tx


async def revoke_download(tx: Tx, me: Me, download_id: UUID) -> None:
    """NotFound when the owner has no such link, whoever else may have it (rule 24)."""
    if not await store.remove(tx, me.owner, [download_id]):
        raise missing()
