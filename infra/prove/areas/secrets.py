"""Area secrets: who may say what about them, what lies in their folder, and that no list, row or page could hold a value (S5, rule 16)."""

from infra.prove.areas.decisions import try_forged
from infra.prove.areas.forgeries import MARK, SIGNATURE, Forged
from infra.prove.check import Book, Check
from infra.prove.forge import Forger, sign
from infra.prove.target import Attempt, Target
from infra.prove.traces import forget
from schemas.catalogue import SURFACES
from schemas.console.v1 import SecretSealed
from schemas.outward import SecretChange, SecretPlace
from schemas.statements import Decision, Opening, Signed
from schemas.text import sha256
from shared.clock import now
from shared.sealing import TYPES
from shared.settings import DATABASES

NAME = "secret.sealed"
SEALED = b"age-encryption.org/v1\nforged"
VALUES = sorted({name for model in TYPES.values() for name in model.secret_names()})
_SHOWN = """SELECT place FROM app.secrets WHERE EXISTS (SELECT FROM jsonb_object_keys(public) AS name WHERE name = ANY ($1::text[])) LIMIT 5"""
_SIGNED = """SELECT subject FROM core.statements WHERE purpose = 'schleuse.secret.v1' AND EXISTS (
  SELECT FROM jsonb_object_keys(convert_from(statement, 'UTF8')::jsonb -> 'public') AS name WHERE name = ANY ($1::text[])) LIMIT 5"""
_PLACES = """SELECT convert_from(statement, 'UTF8')::jsonb ->> 'sealed_hash', substring(subject FROM 8) FROM core.statements
  WHERE purpose = 'schleuse.secret.v1' AND convert_from(statement, 'UTF8')::jsonb ->> 'sealed_hash' IS NOT NULL"""
_LEFT = "SELECT subject FROM core.statements WHERE nonce = $1"


async def check(target: Target) -> list[Check]:
    book = Book("secrets")
    await check_senders(target, book)
    await check_folder(target, book)
    await check_shown(target, book)
    try:
        await check_forged(target, book)
    finally:
        await forget(target, "bridge", "s")
    return book.checks


async def check_senders(target: Target, book: Book) -> None:
    """The word is the console's, and the lock's towards the connectors; nobody else's account may say it, on whatever subject."""
    for service in SURFACES:
        own = [] if service == "console" else [f"from.console.{NAME}", f"from.{service}.{NAME}"]
        subjects = [*own, f"to.connectors.{NAME}"]
        tried: list[Attempt] = [
            {"kind": "bus", "as": service, "op": "publish", "subjects": [subject], "payload": "{}"}
            for subject in subjects
        ]
        for subject, outcome in zip(subjects, await target.run(service, tried), strict=True):
            book.outcome(service, f"publish {subject}", outcome)


async def check_folder(target: Target, book: Book) -> None:
    """What lies there is sealed to the connectors' key, under its own hash, and for the place that a person signed for."""
    (outcome,) = await target.run("connectors", [{"kind": "secrets"}])
    found: list[list[str]] = outcome["value"]
    faults = [f"{name}: {fault}" for name, fault, _ in found if fault]
    book.holds("connectors", "every file in secrets/ is sealed, under its own hash", ", ".join(faults))
    signed: dict[str, str] = {row[0]: row[1] for row in await _rows(target, "connectors", _PLACES)}
    wrong = [
        f"{name} is for {place}" for name, _, place in found if place and signed.get(name[:64]) not in (place, None)
    ]
    book.holds("connectors", "every secret's file is for the place that was signed for", ", ".join(wrong))
    strays = [name for name, _, place in found if place and name[:64] not in signed]
    book.holds("connectors", "every secret's file belongs to a signed statement", ", ".join(strays))


async def check_shown(target: Target, book: Book) -> None:
    """A field that holds a value stands nowhere among what may be shown."""
    for service, query in (("console", _SHOWN), ("connectors", _SIGNED)):
        found = await _rows(target, service, query, VALUES)
        book.holds(
            service, "no field of a value among what may be shown of a secret", ", ".join(row[0] for row in found)
        )


async def check_forged(target: Target, book: Book) -> None:
    forger = Forger.of(target)
    await try_forged(target, book, await _forged(target, forger), "s")
    left = await _rows(target, "connectors", _LEFT, forger.token)
    book.holds("connectors", "none of it is a statement that the connectors keep", ", ".join(row[0] for row in left))


async def _forged(target: Target, forger: Forger) -> list[Forged]:
    """Secrets that nobody put, signed by whom they must not be, or well signed with another value than the one that comes along."""
    change = _change(forger, forger.opening)
    payload = change.to_bytes()
    hidden = forger.opening.model_copy(update={"via": "agent"})
    wanted = [
        ("decision", SecretChange.PURPOSE, payload),
        ("decision", Decision.PURPOSE, payload),
        ("decision", SecretChange.PURPOSE, _change(forger, hidden).to_bytes()),
    ]
    real, crossed, agents = await sign(target, "console", wanted)
    (gate,) = await sign(target, "bridge", [("gate", SecretChange.PURPOSE, payload)])
    somebody = forger.opening.model_copy(update={"person_name": "somebody else"})
    elsewhere = real.model_copy(update={"payload": payload.replace(b'"surface":"agent"', b'"surface":"site"')})
    return [
        _event(forger, "not signed", real.model_copy(update={"signature": b""}), SIGNATURE),
        _event(forger, "signed by a stranger", forger.by_stranger(change), SIGNATURE),
        _event(forger, "signed by a stranger in the real key's name", forger.by_stranger(change, forger.key_id), SIGNATURE),
        _event(forger, "signed by the gate's key in the real key's name", gate.model_copy(update={"key_id": forger.key_id}), SIGNATURE),
        _event(forger, "signed for another purpose", crossed, SIGNATURE),
        _event(forger, "its surface changed after signing", elsewhere, SIGNATURE),
        _event(forger, "well signed, another person than signed for", real, SIGNATURE, somebody),
        _event(forger, "well signed, by way of an agent", agents, "invalid", hidden),
        _event(forger, "well signed, another value than signed for", real, "invalid", sealed=b"other"),
        _event(forger, "well signed, without its value", real, "invalid", sealed=None),
    ]  # fmt: skip


def _change(forger: Forger, opening: Opening) -> SecretChange:
    return SecretChange(
        key_id=forger.key_id,
        action="put",
        place=SecretPlace(surface="agent", connector="prove", name=forger.token),
        type="api_key",
        version=1,
        sealed_hash=sha256(SEALED),
        decided_at=now(),
        decider=opening.commitment,
        prior_version=0,
    )


def _event(
    forger: Forger,
    says: str,
    signed: Signed,
    expected: str,
    opening: Opening | None = None,
    sealed: bytes | None = SEALED,
) -> Forged:
    data = SecretSealed(statement=signed, opening=opening or forger.opening, sealed=sealed)
    return Forged(says, forger.event(NAME, data, MARK), expected, NAME)


async def _rows(target: Target, service: str, query: str, *args: object) -> list[list[str]]:
    asked: Attempt = {
        "kind": "rows",
        "role": service,
        "database": DATABASES[service],
        "query": query,
        "args": list(args),
    }
    (outcome,) = await target.run(service, [asked])
    found: list[list[str]] = outcome["value"]
    return found
