"""A person's word about an app, signed with the decision key over the folder's hash (S4)."""

from dataclasses import dataclass
from typing import Literal

from schemas.text import canonical
from schemas.work import AppApproval
from services.console.apps import store
from services.console.people.domain import Caller
from services.console.queue.store import next_version
from services.console.queue.usecases.decide_item import make_opening
from shared.clock import now
from shared.db import Tx
from shared.signing import SigningKey


@dataclass(frozen=True)
class Approval:
    slug: str
    folder_hash: str
    verdict: Literal["install", "refuse", "stop"]
    reason: str = ""


async def sign_approval(tx: Tx, key: SigningKey, caller: Caller, word: Approval) -> str:
    """The statement's hash. Kept as it was signed."""
    at, opening = now(), make_opening(caller, word.reason)
    version = await next_version(tx, f"app:{word.slug}")
    statement = AppApproval(
        key_id=key.key_id,
        slug=word.slug,
        folder_hash=word.folder_hash,
        verdict=word.verdict,
        decided_at=at,
        decider=opening.commitment,
        prior_version=version - 1,
    )
    signed = key.sign(statement)
    about = {"statement_hash": signed.hash, "slug": word.slug, "folder_hash": word.folder_hash, "verdict": word.verdict}
    exact = {"payload": signed.payload, "signature": signed.signature, "key_id": signed.key_id, "opening": canonical(opening.model_dump(mode="json"))}  # fmt: skip
    who = {"by_id": caller.id, "by_name": caller.name, "by_via": caller.via, "reason": word.reason, "at": at}
    await store.add_decision(tx, {**about, **exact, **who, "version": version})
    return signed.hash
