"""Which secret an ask is about. Pure: the scope is exact (rule 16), and what lies outside of it answers like what never was (rule 24)."""

from collections.abc import Sequence
from datetime import datetime

from schemas.outward import Asker, Owner, SecretType
from services.connectors.book.domain import Book, Secret
from shared.errors import NotFound, Refused


def choose(
    book: Book,
    asker: Asker,
    connector: str,
    owner: Owner | None,
    name: str,
    operation: str,
    at: datetime,
    types: Sequence[SecretType] = (),
) -> Secret:
    """The secret that this ask may open now. `types`: those that will do; empty: any.

    In scope is what lies at exactly this surface and connector, for exactly this owner or for no owner; the owner's own comes first.
    `name` also finds `<name>-<type>`: an account of several parts (`inbox-imap`, `inbox-smtp`) goes by one name. No name means the only
    one that fits; there is no default among several. NotFound (`secret_unknown`) for everything that is not in scope, with the same
    words; Refused (`secret_ambiguous`, `secret_revoked`, `secret_expired`, `secret_narrowed`) for what is, with what to do.
    """
    scope = [each for each in book.secrets.values() if _in_scope(each, asker, connector, owner, types)]
    found = _named(scope, name, types) if name else _only(scope)
    if found is None:
        what = f"secret {name[:64]!r}" if name else "secret"
        of = f" of type {' or '.join(types)}" if types else ""
        put = f"an owner or admin can put one at {asker}/{connector}/… (`schleuse secrets put`)"
        raise NotFound(f"{asker} has no {what}{of} for {connector}; {put}", code="secret_unknown")
    check_usable(found, operation, at)
    return found


def check_usable(secret: Secret, operation: str, at: datetime) -> None:
    """Refused when it is revoked, expired, or was narrowed to other operations. Also asked again while a call runs."""
    place = secret.place
    if secret.revoked:
        raise Refused(f"secret {place} was revoked; an owner or admin can put a new one", code="secret_revoked")
    if not secret.usable(at):
        raise Refused(f"secret {place} has expired; an owner or admin rotates it", code="secret_expired")
    if secret.operations and operation not in secret.operations:
        allowed = ", ".join(secret.operations)
        raise Refused(
            f"secret {place} may be used for {allowed} only, not for {operation}; for more, an owner or admin revokes it and puts it anew",
            code="secret_narrowed",
        )


def _in_scope(secret: Secret, asker: Asker, connector: str, owner: Owner | None, types: Sequence[SecretType]) -> bool:
    place = secret.place
    here = (place.surface, place.connector) == (asker, connector) and place.owner in (None, owner)
    return here and (not types or secret.type in types)


def _named(scope: Sequence[Secret], name: str, types: Sequence[SecretType]) -> Secret | None:
    names = [name, *(f"{name}-{each.replace('_', '-')}" for each in types)]
    found = [each for each in scope if each.place.name in names]
    return min(found, key=lambda each: (each.place.owner is None, names.index(each.place.name)), default=None)


def _only(scope: Sequence[Secret]) -> Secret | None:
    """A revoked one counts where there is no other, so that the answer can say what became of it."""
    found = [each for each in scope if not each.revoked] or list(scope[:1])
    if len(found) > 1:
        names = ", ".join(sorted(each.place.name for each in found))
        raise Refused(f"several secrets fit; name one of {names}", code="secret_ambiguous")
    return found[0] if found else None
