"""Area undo: who may take a verdict back, of what, and how long. Forged undos through the console's real account; rows that the database refuses."""
# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

from uuid import UUID, uuid5

from infra.prove.areas.decisions import try_forged
from infra.prove.areas.forgeries import MARK, SIGNATURE, Forged
from infra.prove.check import Book, Check
from infra.prove.forge import Forger, sign
from infra.prove.target import Attempt, Target
from infra.prove.traces import forget
from schemas.catalogue import SURFACES
from schemas.console.v1 import ItemUndone
from schemas.statements import Decision, Opening, Signed, Undo
from shared.clock import now
from shared.settings import DATABASES

NAME = "item.undone"
_NEWEST = "SELECT statement_hash FROM core.decisions WHERE verdict = 'approve' ORDER BY position DESC LIMIT 1"


async def check(target: Target) -> list[Check]:
    book = Book("undo")
    await check_senders(target, book)
    await check_rows(target, book)
    try:
        await check_forged(target, book)
    finally:
        await forget(target, "bridge", "u")
    return book.checks


async def check_senders(target: Target, book: Book) -> None:
    """The word is the console's; nobody else's account may say it, on whatever subject."""
    for service in (each for each in SURFACES if each != "console"):
        subjects = [f"from.console.{NAME}", f"from.{service}.{NAME}"]
        tried: list[Attempt] = [
            {"kind": "bus", "as": service, "op": "publish", "subjects": [subject], "payload": "{}"}
            for subject in subjects
        ]
        for subject, outcome in zip(subjects, await target.run(service, tried), strict=True):
            book.outcome(service, f"publish {subject}", outcome)


async def check_forged(target: Target, book: Book) -> None:
    forger = Forger.of(target)
    forged = await _forged(target, forger)
    await try_forged(target, book, forged, "u")
    left: Attempt = {
        "kind": "rows",
        "role": "bridge",
        "database": DATABASES["bridge"],
        "query": "SELECT statement_hash FROM core.decisions WHERE nonce = $1 OR item_id = $2::uuid",
        "args": [forger.token, str(forger.item)],
    }
    (outcome,) = await target.run("bridge", [left])
    book.holds("bridge", "none of it is recorded as an undo", ", ".join(each[0] for each in outcome["value"]))


async def _forged(target: Target, forger: Forger) -> list[Forged]:
    """Undos that nobody made, signed by whom they must not be, or well signed about what they are not about."""
    undo = _undo(forger, forger.nothing)
    newest: Attempt = {"kind": "rows", "role": "bridge", "database": DATABASES["bridge"], "query": _NEWEST}
    (outcome,) = await target.run("bridge", [newest])
    another = _undo(forger, outcome["value"][0][0]) if outcome["value"] else undo
    elsewhere = undo.model_copy(update={"item_id": uuid5(UUID(int=0), forger.token)})
    payloads = [undo, another, elsewhere]
    wanted = [("decision", Undo.PURPOSE, each.to_bytes()) for each in payloads]
    real, of_another, other = await sign(target, "console", wanted)
    (crossed,) = await sign(target, "console", [("decision", Decision.PURPOSE, undo.to_bytes())])
    (gate,) = await sign(target, "bridge", [("gate", Undo.PURPOSE, undo.to_bytes())])
    hidden = forger.opening.model_copy(update={"via": "agent"})
    by_agent = undo.model_copy(update={"decider": hidden.commitment})
    (agents,) = await sign(target, "console", [("decision", Undo.PURPOSE, by_agent.to_bytes())])
    return [
        _event(forger, "not signed", real.model_copy(update={"signature": b""}), SIGNATURE),
        _event(forger, "signed by a stranger", forger.by_stranger(undo), SIGNATURE),
        _event(forger, "signed by a stranger in the real key's name", forger.by_stranger(undo, forger.key_id), SIGNATURE),
        _event(forger, "signed by the gate's key in the real key's name", gate.model_copy(update={"key_id": forger.key_id}), SIGNATURE),
        _event(forger, "signed for another purpose", crossed, SIGNATURE),
        _event(forger, "well signed, for another item than the event", other, "invalid"),
        _event(forger, "well signed, of another item's decision", of_another, "invalid"),
        _event(forger, "well signed, of a decision that there is not", real, "invalid"),
        _event(forger, "well signed, by way of an agent", agents, "invalid", hidden),
    ]  # fmt: skip


def _undo(forger: Forger, undoes: str) -> Undo:
    return Undo(
        key_id=forger.key_id,
        item_id=forger.item,
        revision=1,
        undoes=undoes,
        decided_at=now(),
        decider=forger.opening.commitment,
        prior_version=2,
    )


def _event(forger: Forger, says: str, signed: Signed, expected: str, opening: Opening | None = None) -> Forged:
    data = ItemUndone(item_id=forger.item, statement=signed, opening=opening or forger.opening)
    return Forged(says, forger.event(NAME, data, MARK), expected, NAME)


CHECKED, SECOND = ["23514"], ["23505"]
_SIGNED = "statement, signature, key_id, statement_hash, person_id, person_name, via, reason, nonce"


async def check_rows(target: Target, book: Book) -> None:
    """What the database itself refuses the bridge. The preparation is the superuser's: only it can make a verdict old."""
    item = uuid5(UUID(int=0), f"undo {target.token}")
    other = uuid5(UUID(int=0), f"undo other {target.token}")
    begun = [_revision(item), _revision(other), _row(item, "first", 1, "approve")]
    undone = [*begun, _row(item, "undo", 2, "undo", undoes="first")]
    old = [*begun[:2], _row(item, "first", 1, "approve", at="clock_timestamp() - interval '11 minutes'")]
    scheduled = [*begun[:2], _row(item, "first", 1, "reject")]
    tried = {
        "an undo that names nothing": (begun, _row(item, "undo", 2, "undo"), CHECKED),
        "an undo of a decision that there is not": (begun, _row(item, "undo", 2, "undo", undoes="none"), CHECKED),
        "an undo of another item's decision": (begun, _row(other, "undo", 2, "undo", undoes="first"), CHECKED),
        "an undo after eleven minutes": (old, _row(item, "undo", 2, "undo", undoes="first"), CHECKED),
        "an undo for the second time": (undone, _row(item, "again", 3, "undo", undoes="first"), [*CHECKED, *SECOND]),
        "an undo of an undo": (undone, _row(item, "again", 3, "undo", undoes="undo"), CHECKED),
        "an undo of what something was decided after": (
            [*begun, _row(item, "gone", 2, "withdraw")],
            _row(item, "undo", 3, "undo", undoes="first"),
            CHECKED,
        ),
        "two verdicts after an undo": (
            [*undone, _row(item, "second", 3, "reject")],
            _row(item, "third", 4, "approve"),
            SECOND,
        ),
        "a rejection that takes a verdict's place": (begun, _row(item, "second", 2, "reject", undoes="first"), CHECKED),
        "an approval that takes a rejection's place": (
            scheduled,
            _row(item, "second", 2, "approve", undoes="first"),
            CHECKED,
        ),
    }
    attempts: list[Attempt] = [
        {
            "kind": "sql",
            "role": "pgadm",
            "database": DATABASES["bridge"],
            "before": [*before, "SET LOCAL ROLE bridge"],
            "statement": statement,
            "codes": codes,
        }
        for before, statement, codes in tried.values()
    ]
    for says, outcome in zip(tried, await target.run("pgadm", attempts), strict=True):
        book.outcome("bridge", f"core: {says}", outcome)


def _revision(item: UUID) -> str:
    return f"""INSERT INTO core.revisions (item_id, revision, submission_id, kind, lang, path, audience, content, content_hash, submitted_by,
      submitted_name, submitted_via, findings, blocked) VALUES ('{item}', 1, '{item}', 'doc', 'en', 'prove/{item}', 'public', {_bytes("probe")},
      {_hash("probe")}, 'author', 'probe', 'console', '[]', false)"""


def _row(item: UUID, name: str, prior: int, verdict: str, *, undoes: str = "", at: str = "") -> str:
    """`name` and `undoes` stand for statements of this item's first user."""
    own, of = f"{name} of the probe", f"{undoes} of the probe"
    more, values = (", undoes", f", {_hash(of)}") if undoes else ("", "")
    more, values = (f"{more}, at", f"{values}, {at}") if at else (more, values)
    signed = f"{_bytes(own)}, ''::bytea, 'probe', {_hash(own)}, 'mona', 'probe', 'console', 'probe', 'probe'"
    return f"""INSERT INTO core.decisions (event_id, item_id, revision, prior_version, verdict, {_SIGNED}{more})
      VALUES ('{item}', '{item}', 1, {prior}, '{verdict}', {signed}{values})"""


def _bytes(text: str) -> str:
    return f"convert_to('{text}', 'UTF8')"


def _hash(text: str) -> str:
    return f"encode(sha256({_bytes(text)}), 'hex')"
