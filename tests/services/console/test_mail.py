"""People's own mail accounts at the console: passwords sealed at once, told to the agent without them, and no secret outlives its account (rules 15, 16, 24)."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.agent.v1 import MailAccountClosed
from schemas.connectors.v1 import SecretApplied, SecretVersion
from schemas.outward import Owner, SecretPlace
from services.console.forms import Form
from services.console.mail import store
from services.console.mail.domain import Account, SealedPart, Side
from services.console.mail.forms import read_account, read_passwords
from services.console.mail.usecases.add_account import add_account
from services.console.mail.usecases.change_password import change_password
from services.console.mail.usecases.close_account import close_account
from services.console.mail.usecases.remove_account import remove_account
from services.console.mail.usecases.revoke_left import revoke_left
from services.console.people import store as people
from services.console.people.domain import Caller
from services.console.secrets.domain import Change
from services.console.secrets.usecases.change_secret import change_own_secret
from services.console.secrets.usecases.record_applied import record_secret_applied
from shared.clock import now
from shared.errors import Conflict, NotFound, Permanent, Refused
from shared.sealing import unseal
from tests.factories.secrets import new_identity
from tests.services.console.conftest import Desk

PASSWORD = 'pä§§ "w\\rd€'
FIELDS = {
    "label": "Büro", "address": "mel@example.org", "connector": "mail", "imap_host": "imap.example.org", "imap_port": "993", "imap_security": "tls",
    "smtp_host": "smtp.example.org", "smtp_port": "587", "smtp_security": "starttls", "secret.password": PASSWORD,
}  # fmt: skip


def form(**more: str) -> Form:
    return Form(tuple((FIELDS | more).items()))


@pytest.fixture
async def mel(desk: Desk) -> Caller:
    """A viewer; a connector for mail is declared."""
    person = uuid4()
    row = {
        "id": person,
        "handle": f"m-{person.hex[:10]}",
        "name": "Mel",
        "role": "viewer",
        "created_at": now(),
        "created_by": "test",
    }
    async with desk.db.transaction() as tx:
        await people.add_person(tx, {**row, "password_hash": "x"})
        await tx.raw.execute(
            "INSERT INTO app.connectors (name, kind, enabled, hosts, settings, statement_hash, at, version)"
            " VALUES ('mail', 'mail', true, '{}', '{}', 'x', now(), 1) ON CONFLICT DO NOTHING"
        )
    return Caller(str(person), "Mel", "viewer")


async def add(desk: Desk, caller: Caller, **more: str) -> tuple[Account, list[SealedPart]]:
    account, parts = read_account(form(**more), UUID(caller.id), new_identity().recipient)
    async with desk.db.transaction() as tx:
        await add_account(tx, desk.key, caller, account, parts, now())
    return account, parts


async def apply(desk: Desk, place: SecretPlace, version: int = 1, state: Any = "active") -> None:
    """The connectors say what counts of it, as an answer to the newest change."""
    [row] = await desk.rows(
        "SELECT statement_hash FROM app.secret_changes WHERE place = $1 ORDER BY at DESC LIMIT 1", str(place)
    )
    held = SecretVersion(version=1, state="current", sealed_hash="a" * 64, put_at=now(), expires_at=None)
    applied = SecretApplied(
        place=place, type="imap" if place.name.endswith("imap") else "smtp", statement_hash=row["statement_hash"], at=now(), version=version,
        state=state, current=1, versions=(held,), public={"host": "imap.example.org", "port": "993"},
    )  # fmt: skip
    async with desk.db.transaction() as tx:
        await record_secret_applied(tx, applied)


async def told(desk: Desk, account: Account) -> list[dict[str, Any]]:
    rows = await desk.rows(
        "SELECT body FROM app.outbox WHERE about = $1 ORDER BY position", f"mail_account:{account.account_id}"
    )
    return [json.loads(row["body"])["data"] for row in rows]


async def changes(desk: Desk, place: SecretPlace) -> list[str]:
    rows = await desk.rows("SELECT action FROM app.secret_changes WHERE place = $1 ORDER BY at", str(place))
    return [row["action"] for row in rows]


async def revoke(desk: Desk) -> None:
    async with desk.db.transaction() as tx:
        await revoke_left(tx, desk.key, 50)


def test_what_a_form_brings_is_sealed_for_its_owner_and_goes_no_further() -> None:
    identity, person = new_identity(), uuid4()
    account, parts = read_account(form(**{"secret.smtp_password": "other"}), person, identity.recipient)
    opened = {part.side: unseal(identity, part.sealed) for part in parts}
    assert {side: each.fields.opened()["password"] for side, each in opened.items()} == {
        "imap": PASSWORD,
        "smtp": "other",
    }
    assert all(
        each.place.owner == Owner(kind="user", id=str(person)) and each.place.surface == "agent"
        for each in opened.values()
    )
    assert PASSWORD not in repr((account, parts)) and "password" not in str([part.public for part in parts])
    assert opened["smtp"].fields.public()["sender"] == "mel@example.org"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"imap_host": "", "smtp_host": ""}, "Name the server"), ({"imap_port": "none"}, "field port"), ({"secret.password": ""}, "password"),
        ({"address": "no address"}, "mailbox@domain"), ({"label": " "}, "label"), ({"smtp_security": "none"}, "security"), ({"secret.password": "a\x00b"}, "NUL"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_and_never_the_password(more: dict[str, str], words: str) -> None:
    with pytest.raises(Refused) as refused:
        read_account(form(**more), uuid4(), new_identity().recipient)
    assert words in refused.value.message and PASSWORD not in refused.value.message


async def test_the_agent_is_told_of_an_account_without_its_passwords(desk: Desk, mel: Caller) -> None:
    account, parts = await add(desk, mel)
    [stated] = await told(desk, account)
    assert (stated["label"], stated["owner"]["id"], stated["reads"], stated["sends"], stated["version"]) == (
        "Büro",
        mel.id,
        True,
        True,
        1,
    )
    assert "password" not in json.dumps(stated) and [await changes(desk, part.place) for part in parts] == [
        ["put"],
        ["put"],
    ]
    with pytest.raises(Conflict):
        await add(desk, mel, label="bÜRO")
    with pytest.raises(NotFound):
        await add(desk, mel, label="Other", connector="none")


async def test_nobody_changes_what_is_not_theirs(desk: Desk, mel: Caller) -> None:
    account, parts = await add(desk, mel)
    stranger = Caller(str(uuid4()), "Eve", "viewer")
    async with desk.db.transaction() as tx:
        with pytest.raises(NotFound):
            await remove_account(tx, UUID(stranger.id), account.account_id, now())
        assert await store.one(tx, UUID(stranger.id), account.account_id) is None
        with pytest.raises(NotFound):
            await change_password(tx, desk.key, stranger, parts)
        for place in (
            SecretPlace(surface="agent", connector="mail", name="x"),
            SecretPlace(surface="site", connector="mail", name="x", owner=account.owner),
        ):
            with pytest.raises(NotFound):
                await change_own_secret(tx, desk.key, mel, Change(place, "revoke", "x"))
    closed = MailAccountClosed(account_id=account.account_id, owner=Owner(kind="user", id=stranger.id), at=now())
    async with desk.db.transaction() as tx:
        assert not await close_account(tx, closed)
        for owner in (Owner(kind="guest", id=mel.id), Owner(kind="user", id="nobody")):
            with pytest.raises(Permanent):
                await close_account(tx, closed.model_copy(update={"owner": owner}))


async def test_a_removed_account_takes_its_secrets_with_it_when_nothing_is_on_its_way(desk: Desk, mel: Caller) -> None:
    account, parts = await add(desk, mel)
    closed = MailAccountClosed(account_id=account.account_id, owner=account.owner, at=now())
    async with desk.db.transaction() as tx:
        assert await close_account(tx, closed)
        assert not await close_account(tx, closed)
    assert [(each["deleted"], each["version"]) for each in await told(desk, account)] == [(False, 1), (True, 2)]
    imap, smtp = (part.place for part in parts)
    await revoke(desk)
    assert await changes(desk, imap) == ["put"], "the connectors have not answered yet"
    await apply(desk, imap)
    await revoke(desk)
    await revoke(desk)
    assert (await changes(desk, imap), await changes(desk, smtp)) == (["put", "revoke"], ["put"])
    await apply(desk, imap, 2, "revoked")
    await apply(desk, smtp)
    await revoke(desk)
    await revoke(desk)
    assert (await changes(desk, imap), await changes(desk, smtp)) == (["put", "revoke"], ["put", "revoke"])


async def test_a_new_password_keeps_what_else_is_known_of_the_account(desk: Desk, mel: Caller) -> None:
    account, parts = await add(desk, mel, smtp_host="")
    [part] = parts
    await apply(desk, part.place)
    identity = new_identity()
    public: dict[Side, dict[str, str]] = {
        "imap": {"host": "imap.example.org", "port": "993", "security": "tls", "username": "mel"}
    }
    fresh = read_passwords(Form((("secret.password", "new"),)), account, public, identity.recipient)
    opened = unseal(identity, fresh[0].sealed).fields.opened()
    assert (opened["host"], opened["username"], opened["password"]) == ("imap.example.org", "mel", "new")
    with pytest.raises(Refused):
        read_passwords(Form((("secret.password", "new"),)), account, {}, identity.recipient)
    async with desk.db.transaction() as tx:
        await change_password(tx, desk.key, mel, fresh)
    assert await changes(desk, part.place) == ["put", "rotate"]
