"""A mail account has a new password: sealed already; the old one opens nothing from then on."""

from collections.abc import Sequence

from services.console.mail.domain import SealedPart
from services.console.people.domain import Caller
from services.console.secrets.domain import Change
from services.console.secrets.usecases.change_secret import change_own_secret
from shared.db import Tx
from shared.signing import SigningKey

WHY = "a new password of the mail account"


async def change_password(tx: Tx, key: SigningKey, caller: Caller, parts: Sequence[SealedPart]) -> list[str]:
    """The hashes of the statements."""
    return [await change_own_secret(tx, key, caller, _rotated(each)) for each in parts]


def _rotated(part: SealedPart) -> Change:
    return Change(part.place, "rotate", WHY, type=part.side, sealed=part.sealed, public=part.public)
