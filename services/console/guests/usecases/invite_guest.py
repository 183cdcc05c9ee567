"""An owner or admin lets somebody read the site until a day, by a link."""

from services.console.guests import store
from services.console.guests.domain import check_days, check_label
from services.console.identity.issuer import Issuer
from services.console.identity.usecases.state_standing import state_guest
from services.console.people.domain import Caller, hash_token
from shared.clock import now
from shared.db import Tx
from shared.ids import fresh_id, new_token


async def invite_guest(tx: Tx, issuer: Issuer, caller: Caller, label: str, days: int | None) -> str:
    """The link's token, shown once and stored hashed, here and at the site. `label` stays inside."""
    caller.require("guests")
    label, life = check_label(label), check_days(days)
    at, token, subject = now(), new_token(), fresh_id()
    row = {"subject": subject, "link_hash": hash_token(token), "label": label, "created_at": at}
    await store.add_guest(tx, {**row, "created_by": caller.name, "until": at + life})
    await state_guest(tx, issuer, subject, at, by=caller.name, link_hash=hash_token(token), until=at + life)
    return token
