"""What people ask for about secrets is signed and told; lists show what the connectors answer; no page, row or event holds a value."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.bridge.v1 import DecisionRefused
from schemas.connectors import v1, v2
from schemas.connectors.v1 import ChangeRefused, SecretApplied, SecretVersion
from schemas.outward import SecretChange
from schemas.statements import Signed
from services.console.forms import Form
from services.console.intake import ConsoleIntake
from services.console.live import Live
from services.console.people.domain import OPERATOR, Caller
from services.console.secrets import store, views
from services.console.secrets.domain import Change, read_operations, warn
from services.console.secrets.forms import fields_of, read_change, shown_again
from services.console.secrets.usecases.change_secret import change_secret
from services.console.secrets.usecases.record_applied import record_secret_applied, record_secret_refused
from services.console.secrets.usecases.record_uses import record_uses
from services.console.secrets.usecases.warn_of_expiry import warn_of_expiry
from shared.clock import now
from shared.errors import Conflict, Forbidden, NotFound, Refused
from shared.sealing import unseal
from shared.signing import PublicKeys
from tests.factories.secrets import new_identity, place
from tests.services.console.conftest import MARA, Desk

ADMIN = Caller(str(uuid4()), "Lina Faber", "admin")


def a_place() -> str:
    return f"agent/llm-{uuid4().hex[:8]}/openai"


def a_put(where: str, **more: Any) -> Change:
    return Change(place(where), "put", "needed", "api_key", b"sealed", **more)


async def ask(desk: Desk, change: Change, caller: Caller = ADMIN) -> str:
    async with desk.db.transaction() as tx:
        return await change_secret(tx, desk.key, caller, change)


async def told(desk: Desk, where: str) -> list[dict[str, Any]]:
    rows = await desk.rows("SELECT body FROM app.outbox WHERE about = $1 ORDER BY position", f"secret:{where}")
    return [json.loads(row["body"])["data"] for row in rows]


async def apply(desk: Desk, where: str, statement_hash: str = "0" * 64, version: int = 1, **more: Any) -> None:
    found = SecretVersion(
        version=1, state="current", sealed_hash="a" * 64, put_at=now(), expires_at=more.pop("expires_at", None)
    )
    said: dict[str, Any] = {"state": "active", "current": 1, "versions": (found,)} | more
    applied = SecretApplied(
        place=place(where), type="api_key", statement_hash=statement_hash, at=now(), version=version, **said
    )
    async with desk.db.transaction() as tx:
        await record_secret_applied(tx, applied)


async def outcome(desk: Desk, statement_hash: str) -> tuple[str, str]:
    async with desk.db.reading() as tx:
        return await store.outcome(tx, statement_hash)


async def test_a_change_is_signed_over_exactly_what_was_asked(desk: Desk, keys: PublicKeys) -> None:
    where, until = a_place(), now() + timedelta(days=30)
    await ask(desk, a_put(where, operations=("chat",), expires_at=until))
    [data] = await told(desk, where)
    signed = Signed.model_validate(data["statement"])
    said = keys.verify("decision", signed, SecretChange)
    assert (said.action, said.version, said.prior_version, said.type) == ("put", 1, 0, "api_key")
    assert (said.operations, said.expires_at, str(said.place)) == (("chat",), until, where)
    assert data["opening"]["person_name"] == "Lina Faber" and data["opening"]["via"] == "console"


async def test_owners_and_admins_decide_and_nobody_else(desk: Desk) -> None:
    with pytest.raises(Forbidden, match="decide on connectors, secrets and cards; that takes one of: owner, admin"):
        await ask(desk, a_put(a_place()), MARA)


async def test_versions_follow_what_the_connectors_said(desk: Desk, keys: PublicKeys) -> None:
    where = a_place()
    first = await ask(desk, a_put(where))
    await apply(desk, where, first)
    assert await outcome(desk, first) == ("applied", "")
    rotate = replace(a_put(where), action="rotate", type=None, overlap=timedelta(hours=1))
    await ask(desk, rotate)
    said = keys.verify("decision", Signed.model_validate((await told(desk, where))[-1]["statement"]), SecretChange)
    assert (said.version, said.prior_version, said.type) == (2, 1, "api_key")
    assert said.overlap_until == said.decided_at + timedelta(hours=1)


async def test_everybodys_open_pages_hear_that_something_changed_and_not_what(desk: Desk, keys: PublicKeys) -> None:
    where, live = a_place(), Live()
    intake = ConsoleIntake(live, lambda: None, lambda: None, keys)
    version = SecretVersion(version=1, state="current", sealed_hash="a" * 64, put_at=now())
    applied = SecretApplied(
        place=place(where), type="api_key", state="active", current=1, versions=(version,), statement_hash="0" * 64, at=now(), version=1
    )  # fmt: skip
    refused = ChangeRefused(statement_hash="1" * 64, code="x", reason=f"no {where}", at=now())
    async with live.listen("session", MARA.id) as page, desk.db.transaction() as tx:
        await intake.on_secret_applied(tx, SimpleNamespace(data=applied))
        await intake.on_change_refused(tx, SimpleNamespace(data=refused))
        tx.committed()
        heard = [page.messages.get_nowait() for _ in range(page.messages.qsize())]
    assert {each["event"] for each in heard} == {"secret", "refused"} and where not in str(heard)


async def test_an_older_word_of_the_connectors_changes_nothing(desk: Desk) -> None:
    where = a_place()
    await apply(desk, where, version=2, state="revoked", current=0)
    await apply(desk, where, version=1)
    async with desk.db.reading() as tx:
        row = await views.one(tx, where)
    assert row is not None and (row["state"], row["version"]) == ("revoked", 2)


async def test_a_change_on_an_old_page_is_a_conflict_and_one_of_nothing_is_not_found(desk: Desk) -> None:
    where = a_place()
    await apply(desk, where, version=3)
    with pytest.raises(Conflict, match="changed by somebody else since you opened the page"):
        await ask(desk, Change(place(where), "revoke", "gone", seen=2))
    with pytest.raises(NotFound, match="no secret"):
        await ask(desk, Change(place(a_place()), "revoke", "gone"))


@pytest.mark.parametrize("kind", [ChangeRefused, DecisionRefused])
async def test_a_refusal_says_why(desk: Desk, kind: Any) -> None:
    sent = await ask(desk, a_put(a_place()))
    names = {"statement_hash": sent, "code": "x", "reason": "it is not so", "at": now()}
    fields = {name: value for name, value in names.items() if name in kind.model_fields}
    async with desk.db.transaction() as tx:
        assert await record_secret_refused(tx, kind.model_construct(**fields))
    assert await outcome(desk, sent) == ("refused", "it is not so")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"action": "put", "sealed": None}, "needs its value"),
        ({"action": "revoke", "sealed": b"x"}, "needs its value, and nothing else"),
        ({"expires_at": now() - timedelta(days=1)}, "expired already"),
        ({"overlap": timedelta(days=8)}, "at most 7 days"),
        ({"action": "narrow", "sealed": None}, "Name the operations"),
        ({"reason": ""}, "1 to 500"),
        ({"reason": "x" * 501}, "1 to 500"),
    ],
)
async def test_what_cannot_be_is_refused_at_once(desk: Desk, change: Mapping[str, Any], says: str) -> None:
    with pytest.raises(Refused, match=says):
        await ask(desk, replace(a_put(a_place()), **change))


async def test_the_operator_may_leave_the_reason_out(desk: Desk) -> None:
    assert await ask(desk, replace(a_put(a_place()), reason=""), OPERATOR)


def entry(secret: str, kind: Any = "begun") -> v2.CallAudited:
    return v2.CallAudited(
        entry_id=uuid4(), seq=0, at=now(), call_id=uuid4(), asker="agent", operation="chat", outcome=kind, secret=secret, hash="0" * 64
    )  # fmt: skip


async def test_last_used_comes_from_the_entries_of_calls(desk: Desk) -> None:
    where, own = a_place(), f"agent/mail-{uuid4().hex[:6]}/user:7/inbox-imap"
    calls = [entry(f"{where} v1"), entry(f"{where} v2, {own} v11"), entry(f"{where} v3", "refused")]
    old = v1.CallAudited(
        entry_id=UUID(int=1), seq=1, at=now(), asker="a", connector="c", operation="o", target="t", outcome="ok"
    )
    async with desk.db.transaction() as tx:
        await record_uses(tx, [*calls, entry(f"{where} v4", "noted"), old])
    async with desk.db.reading() as tx:
        found, theirs = await views.uses(tx, where), await views.uses(tx, own)
    assert (set(found), set(theirs)) == ({1, 2}, {11})


async def test_owners_and_admins_are_warned_once_a_stage(desk: Desk) -> None:
    where, person = a_place(), uuid4()
    async with desk.db.transaction() as tx:
        await tx.raw.execute(
            "INSERT INTO app.people (id, handle, name, role, created_at, created_by) VALUES ($1, $2, 'Ada', 'admin', now(), 'Ada')",
            person,
            f"ada-{person.hex[:8]}",
        )
    at = now()
    await apply(desk, where, expires_at=at + timedelta(days=20))
    for days, said in [(0, 0), (7, 1), (8, 0), (18, 1), (21, 1), (22, 0)]:
        async with desk.db.transaction() as tx:
            told = await warn_of_expiry(tx, at + timedelta(days=days))
        mine = [each for each in told if where in each.text and each.person_id == str(person)]
        assert [each.place for each in mine] == [f"/secrets/at/{where}"] * said, (days, mine)
    async with desk.db.transaction() as tx:  # others count admins
        await tx.raw.execute("DELETE FROM app.people WHERE id = $1", person)


def test_a_warning_says_how_long_there_is() -> None:
    at = now()
    soon = warn("agent/x/y", at + timedelta(days=2, hours=1), at)
    over = warn("agent/x/y", at - timedelta(hours=1), at)
    assert soon is not None and "expires in 2 days" in soon.text
    assert over is not None and "expired on" in over.text and over.stage != soon.stage
    assert warn("agent/x/y", at + timedelta(days=15), at) is None


def test_a_form_is_sealed_where_it_is_read_and_shows_its_value_nowhere() -> None:
    identity = new_identity()
    form = Form((("token", "t"), ("host", "imap.example.org"), ("port", "993"), ("security", "tls"), ("username", "m"), ("secret.password", "planted"), ("reason", "r"), ("operations", "read, search read")))  # fmt: skip
    change = read_change(form, "put", place("agent/mail/inbox"), "imap", identity.recipient)
    assert change.sealed is not None and unseal(identity, change.sealed).fields.opened()["password"] == "planted"
    assert change.operations == ("read", "search")
    assert "planted" not in f"{change!r} {form!r}" and "planted" not in str(shown_again(form))
    assert all(not each.default for each in fields_of("imap") if each.secret)


@pytest.mark.parametrize("text", [" ".join(str(n) for n in range(51)), "x" * 101, "a\x1bb"])
def test_operations_are_few_and_short(text: str) -> None:
    with pytest.raises(Refused):
        read_operations(text)
