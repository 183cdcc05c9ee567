"""Acting for an owner (S10): only by a delegation that the console's identity key signed, to this asker, for this operation, in its time."""

from datetime import datetime, timedelta

from schemas.outward import Asker, Delegation
from schemas.statements import Signed
from services.connectors.book.domain import Book
from shared.errors import BadSignature, Forbidden
from shared.signing import PublicKeys

LONGEST = timedelta(hours=24)
"""Of one that no card was decided on."""
AHEAD = timedelta(seconds=5)
"""How far the clocks of two services may differ."""


def read_delegation(
    signed: Signed | None, keys: PublicKeys, book: Book, asker: Asker, instruction_hash: str | None, at: datetime
) -> Delegation | None:
    """What the asker may do for whom; None when it acts for nobody. Forbidden (code `delegation`) when it does not hold for this asker now."""
    if signed is None:
        return None
    try:
        found = keys.verify("identity", signed, Delegation)
    except BadSignature as error:
        raise _refused(f"{error.message}; the console issues them") from None
    if found.audience != asker:
        raise _refused(f"it was issued to {found.audience}, not to {asker}")
    _check_time(found, at)
    check_card(found, book, at)
    if found.instruction_hash != instruction_hash:
        raise _refused("it is bound to another instruction than the one that is carried out")
    return found


def check_still(found: Delegation | None, book: Book, at: datetime) -> None:
    """After a wait: its time may be over, its card taken back."""
    if found is not None:
        _check_time(found, at)
        check_card(found, book, at)


def check_card(found: Delegation | None, book: Book, at: datetime) -> None:
    """An automation's is bound to what a person allowed, as long as that is not taken back."""
    if found is not None and found.card_id is not None and not book.allows(found.card_id, at):
        raise _refused("the card that it is bound to is not allowed (any more)")


def check_operation(delegation: Delegation | None, operation: str) -> None:
    """`operation`: `connector.operation`, exact."""
    if delegation is not None and operation not in delegation.operations:
        raise _refused(f"it is for {', '.join(delegation.operations)[:200]}, not for {operation}")


def _check_time(found: Delegation, at: datetime) -> None:
    if at >= found.expires_at:
        raise _refused(f"it expired at {found.expires_at:%Y-%m-%d %H:%M} UTC; get a new one from the console")
    if found.issued_at > at + AHEAD:
        raise _refused("it is not valid yet")
    if found.card_id is None and found.expires_at - found.issued_at > LONGEST:
        raise _refused(f"without a card it may be valid for {LONGEST.total_seconds() / 3600:.0f} hours at most")


def _refused(why: str) -> Forbidden:
    return Forbidden(f"this delegation does not hold: {why}", code="delegation")
