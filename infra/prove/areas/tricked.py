"""Inserts that a service may make, but not with these values: the constraints and triggers of `core` refuse them. Rolled back."""
# statements are composed of constants of ours, and nothing of them is kept
# ruff: noqa: S608

from uuid import UUID, uuid5

from infra.prove.check import Book
from infra.prove.target import Attempt, Target
from schemas.catalogue import DELIVER_TO_SITE, EVENTS
from shared.settings import DATABASES

CHECKED = ["23514"]
SECOND = ["23505"]
_OPENED = "SELECT sender || ' to ' || receiver || ': ' || type FROM core.policies WHERE receiver = 'site' AND policy = 'deliver' AND type NOT IN ({})"
_FAR = 1_000_000
"""A version that no setting reaches by itself."""


async def check_tricked(target: Target, book: Book) -> None:
    allowed = ", ".join(f"'{name}'" for name in DELIVER_TO_SITE)
    database = DATABASES["bridge"]
    row: Attempt = {"kind": "rows", "role": "bridge", "database": database, "query": _OPENED.format(allowed)}
    made = [*_policies(), *_decisions(target.token), *_gate(target.token)]
    found, *outcomes = await target.run("bridge", [row, *(attempt for _, attempt in made)])
    book.holds("bridge", "no policy delivers content to the site", "; ".join(each[0] for each in found["value"]))
    for (says, _), outcome in zip(made, outcomes, strict=True):
        book.outcome("bridge", f"core: {says}", outcome)
    (audit,) = await target.run("connectors", [_audit(target.token)])
    book.outcome("connectors", "core: a call audit entry that leaves a gap", audit)


def _policies() -> list[tuple[str, Attempt]]:
    """S2 by every way that content could take, and control facts switched off."""
    open_to = [event.name for event in EVENTS if event.name not in DELIVER_TO_SITE]
    found = [
        (f"policy deliver to the site: {name}", _policy("console", "site", name, "deliver"))
        for name in (*open_to, "page.anything")
    ]
    control = [event for event in EVENTS if event.control and event.policy == "deliver"]
    return found + [
        (f"policy block for a control fact: {event.name}", _policy(event.owner, event.readers[0], event.name, "block"))
        for event in control
    ]


def _policy(sender: str, receiver: str, name: str, policy: str) -> Attempt:
    values = f"'{sender}', '{receiver}', '{name}', {_FAR}, '{policy}', 'probe', 'probe'"
    return _insert(
        f"INSERT INTO core.policies (sender, receiver, type, version, policy, set_by, reason) VALUES ({values})"
    )


def _decisions(token: str) -> list[tuple[str, Attempt]]:
    item = uuid5(UUID(int=0), token)
    author, eyes = _revision(item, blocked=False), _four_eyes(token)
    return [
        ("four eyes: the author approves", _insert(_decision(token, item), [author, eyes])),
        ("four eyes: the operator approves", _insert(_decision(token, item, person="operator", via="operator"), [author, eyes])),
        ("an approval of what the lock stopped", _insert(_decision(token, item), [_revision(item, blocked=True)])),
        ("a decision that came from an agent", _insert(_decision(token, item, person="agent", via="agent"), [author])),
        ("a verdict that there is not", _insert(_decision(token, item, verdict="publish"), [author])),
        ("a decision whose statement has another hash", _insert(_decision(token, item, statement="other"), [author])),
        ("a second verdict on a revision", _insert(_decision(f"{token}2", item, prior=2), [author, _decision(token, item)], SECOND)),
        ("a revision whose content has another hash", _insert(_revision(item, blocked=False, content="other"))),
    ]  # fmt: skip


def _gate(token: str) -> list[tuple[str, Attempt]]:
    return [
        ("a gate entry that leaves a gap", _insert(_entry(token, "2000000000", f"'{token}'", token))),
        ("a gate entry that follows another one than the last", _insert(_entry(token, "(SELECT coalesce(max(seq), -1) + 1 FROM core.gate_log)", f"'{token}'", token))),
        ("a gate entry at an old place", _insert(_entry(token, "(SELECT coalesce(max(seq), -1) FROM core.gate_log)", _LAST, token))),
        ("a gate entry with another hash", _insert(_entry(token, "(SELECT coalesce(max(seq), -1) + 1 FROM core.gate_log)", _LAST, "other"))),
    ]  # fmt: skip


_LAST = "coalesce((SELECT hash FROM core.gate_log ORDER BY seq DESC LIMIT 1), repeat('0', 64))"


def _entry(token: str, seq: str, previous: str, content: str) -> str:
    return f"""INSERT INTO core.gate_log (seq, kind, entry, signature, key_id, hash, previous, statement, statement_signature, statement_key_id)
      SELECT {seq}, 'publication', {_bytes(content)}, ''::bytea, 'probe', {_hash(token)}, {previous}, {_bytes(token)}, ''::bytea, 'probe'"""


def _revision(item: UUID, *, blocked: bool, content: str = "probe") -> str:
    return f"""INSERT INTO core.revisions (item_id, revision, submission_id, kind, lang, path, audience, content, content_hash, submitted_by, submitted_name,
      submitted_via, findings, blocked) VALUES ('{item}', 1, '{item}', 'doc', 'en', 'prove/{item}', 'public', {_bytes(content)}, {_hash("probe")}, 'author', 'probe',
      'console', '[]', {blocked})"""


def _four_eyes(token: str) -> str:
    return f"""INSERT INTO core.switch_settings (name, version, value, {_SIGNED}) VALUES ('four_eyes', {_FAR}, 'on', {_signed(f"{token}-eyes", "author", "console")})"""


_SIGNED = "statement, signature, key_id, statement_hash, person_id, person_name, via, reason, nonce"


def _decision(
    token: str,
    item: UUID,
    person: str = "author",
    via: str = "console",
    verdict: str = "approve",
    prior: int = 1,
    statement: str = "",
) -> str:
    signed = _signed(token, person, via, statement)
    return f"""INSERT INTO core.decisions (event_id, item_id, revision, prior_version, verdict, {_SIGNED})
      VALUES ('{item}', '{item}', 1, {prior}, '{verdict}', {signed})"""


def _signed(token: str, person: str, via: str, statement: str = "") -> str:
    return f"{_bytes(statement or token)}, ''::bytea, 'probe', {_hash(token)}, '{person}', 'probe', '{via}', 'probe', 'probe'"


def _bytes(text: str) -> str:
    return f"convert_to('{text}', 'UTF8')"


def _hash(text: str) -> str:
    return f"encode(sha256({_bytes(text)}), 'hex')"


def _audit(token: str) -> Attempt:
    statement = f"""INSERT INTO core.call_audit (seq, entry_id, entry, hash, previous)
      SELECT 2000000000, '{uuid5(UUID(int=0), token)}', {_bytes(token)}, {_hash(token)}, '{token}'"""
    return {
        "kind": "sql",
        "role": "connectors",
        "database": DATABASES["connectors"],
        "statement": statement,
        "codes": CHECKED,
    }


def _insert(statement: str, before: list[str] | None = None, codes: list[str] | None = None) -> Attempt:
    return {
        "kind": "sql",
        "role": "bridge",
        "database": DATABASES["bridge"],
        "statement": statement,
        "before": before or [],
        "codes": codes or CHECKED,
    }
