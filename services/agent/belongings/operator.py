"""The operator's way to what is kept of a person: when they ask for it and cannot, or will not, sign in."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import structlog

from schemas.outward import Owner
from services.agent.belongings.domain import Holding
from services.agent.belongings.usecases.export_all import export_all
from services.agent.belongings.usecases.forget_all import forget_all
from shared.clock import now
from shared.errors import TooLarge
from shared.operator import Verb

log = structlog.get_logger()
MOST = 40 * 1024 * 1024
"""Bytes of an export that fits an answer."""
Args = dict[str, Any]


def belongings_verbs(holdings: Sequence[Holding]) -> dict[str, Verb]:
    return {"belongings.export": _export(holdings), "belongings.forget": _forget(holdings)}


def _owner(args: Args) -> Owner:
    return Owner(kind="user", id=str(UUID(str(args["person_id"]))))


def _export(holdings: Sequence[Holding]) -> Verb:
    async def export(args: Args) -> Args:
        """{"person_id"} -> {"zip": base64}. TooLarge above 40 MiB."""
        owner = _owner(args)
        found = bytearray()
        async for piece in export_all(holdings, owner, now()):
            found += piece
            if len(found) > MOST:
                raise TooLarge(
                    f"This is more than {MOST // 1024**2} MiB; the person can fetch it on the workspace's page Your data."
                )
        log.info("belongings.exported", person=owner.id, by="operator", bytes=len(found))
        return {"zip": b64encode(found).decode()}

    return export


def _forget(holdings: Sequence[Holding]) -> Verb:
    async def forget(args: Args) -> Args:
        """{"person_id"} -> {"deleted": {holding: how many}}."""
        owner = _owner(args)
        deleted = await forget_all(holdings, owner)
        log.info("belongings.forgotten", person=owner.id, by="operator", **deleted)
        return {"deleted": deleted}

    return forget
