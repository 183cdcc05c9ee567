"""The connectors' word on a secret, or the lock's: what counts, or that a change was not taken."""

from typing import Any

from schemas.bridge.v1 import DecisionRefused
from schemas.connectors.v1 import ChangeRefused, SecretApplied
from services.console.secrets import store
from services.console.secrets.domain import expiry_of
from shared.db import Tx


async def record_secret_applied(tx: Tx, applied: SecretApplied) -> None:
    place, told = applied.place, applied.model_dump(mode="json")
    names = ("type", "state", "current", "versions", "public", "operations", "statement_hash", "version")
    row: dict[str, Any] = {
        "place": str(place),
        "surface": place.surface,
        "connector": place.connector,
        "name": place.name,
    }
    row |= {name: told[name] for name in names}
    row |= {"owner": str(place.owner or ""), "at": applied.at}
    row["expires_at"] = expiry_of(told["versions"], applied.current)
    await store.put(tx, row)
    await store.settle_change(tx, applied.statement_hash, "applied")


async def record_secret_refused(tx: Tx, refused: ChangeRefused | DecisionRefused) -> bool:
    """Whether it was about a change of a secret."""
    return bool(await store.settle_change(tx, refused.statement_hash, "refused", refused.reason))
