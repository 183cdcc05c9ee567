"""A person's word on a secret arrives: verified, its value kept sealed, in force within the transaction; or refused with nothing changed."""

import asyncio
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from schemas.console.v1 import SecretSealed
from schemas.outward import SecretChange
from services.connectors.book.usecases.record_secret import record_secret
from services.connectors.secrets.choosing import choose
from services.connectors.secrets.removal import Removal
from services.connectors.secrets.vault import Vault
from shared.clock import now
from shared.errors import Permanent, Refused, Transient
from tests.factories.secrets import OPENING, change, new_identity, place, sealed_for
from tests.services.connectors.conftest import Office


def a_place() -> str:
    return f"agent/llm-{uuid4().hex[:8]}/openai"


async def hand_in(
    office: Office, said: SecretChange, sealed: bytes | None = None, vault: Vault | None = None, **more: Any
) -> Any:
    """The one answer: (event's name, its data)."""
    data = SecretSealed(statement=office.signed(said), opening=OPENING, sealed=sealed).model_copy(update=more)
    take = partial(record_secret, vault=vault or office.vault)
    found = await office.take("secret.sealed", data, take)
    answers = [(each["type"].removeprefix("io.schleuse."), each["data"]) for each in found]
    [answer] = [each for each in answers if each[0] != "call.audited"]
    return answer


async def put(office: Office, where: str, value: str = "sk-planted-1", **more: Any) -> Any:
    sealed = sealed_for(office.identity, where, key=value)
    return await hand_in(office, change(where, sealed=sealed, **more), sealed)


async def test_a_value_is_kept_sealed_and_opens_for_its_place_alone(office: Office) -> None:
    where = a_place()
    name, applied = await put(office, where)
    assert (name, applied["state"], applied["current"]) == ("secret.applied", "active", 1)
    secret = office.keeper.book.secrets[place(where)]
    assert (await office.vault.open(secret, 1)).fields == {"key": "sk-planted-1"}
    path = office.settings.secrets / f"{secret.versions[0].sealed_hash}.age"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"planted" not in path.read_bytes()


async def test_every_change_is_an_entry_of_the_audit_without_a_value(office: Office) -> None:
    where = a_place()
    await put(office, where)
    [row] = await office.rows(
        "SELECT convert_from(entry, 'UTF8') AS entry FROM core.call_audit WHERE convert_from(entry, 'UTF8') LIKE $1", f"%{where}%"
    )  # fmt: skip
    assert '"operation":"secret.put"' in row["entry"] and f'"secret":"{where} v1"' in row["entry"]
    assert "Mara Okonjo" in row["entry"] and "planted" not in row["entry"]


async def test_versions_overlap_are_restored_narrowed_and_revoked(office: Office) -> None:
    where = a_place()
    await put(office, where, "one-planted")
    sealed = sealed_for(office.identity, where, key="two-planted")
    until = now() + timedelta(hours=1)
    name, applied = await hand_in(office, change(where, "rotate", 2, 1, sealed=sealed, overlap_until=until), sealed)
    assert (name, applied["current"]) == ("secret.applied", 2)
    connector = place(where).connector
    secret = choose(office.keeper.book, "agent", connector, None, "openai", "chat", now())
    assert [(await office.vault.open(secret, each.number)).fields["key"] for each in secret.usable(now())] == [
        "two-planted",
        "one-planted",
    ]
    assert (await hand_in(office, change(where, "restore", 1, 2)))[1]["current"] == 1
    assert (await hand_in(office, change(where, "narrow", 0, 3, operations=("chat",))))[1]["operations"] == ["chat"]
    _, applied = await hand_in(office, change(where, "revoke", 0, 4))
    assert (applied["state"], {each["state"] for each in applied["versions"]}) == ("revoked", {"revoked"})
    secret = office.keeper.book.secrets[place(where)]
    with pytest.raises(Refused, match="was revoked"):
        await office.vault.open(secret, 1)


async def test_the_files_of_revoked_versions_are_deleted_and_others_stay(office: Office) -> None:
    where, other = a_place(), a_place()
    await put(office, where)
    await put(office, other)
    mine, theirs = (office.keeper.book.secrets[place(each)].versions[0].sealed_hash for each in (where, other))
    removal = Removal(office.keeper, office.vault)
    await removal.start()
    await hand_in(office, change(where, "revoke", 0, 1))
    async with asyncio.timeout(10):
        while mine in office.vault.hashes():
            await asyncio.sleep(0.01)
    assert theirs in office.vault.hashes()
    await removal.stop()


async def test_what_does_not_fit_is_refused_and_nothing_is_kept(office: Office) -> None:
    where, before = a_place(), office.vault.hashes()
    right, elsewhere = sealed_for(office.identity, where), sealed_for(office.identity, a_place())
    foreign = sealed_for(new_identity(), where)
    mailbox = sealed_for(office.identity, where, "imap", host="imap.example.org", username="m", password="p")
    wrong: list[tuple[str, SecretChange, bytes | None]] = [
        ("not the one that was signed for", change(where, sealed=right), elsewhere),
        ("sealed for another place", change(where, sealed=elsewhere), elsewhere),
        ("does not open with this", change(where, sealed=foreign), foreign),
        ("sealed for another place", change(where, sealed=mailbox), mailbox),
        ("may be shown", change(where, sealed=mailbox, type="imap", public={"host": "evil.example"}), mailbox),
        ("come together", change(where, sealed=right), None),
        ("is 1, with its sealed value", change(where, version=2, sealed=right), right),
        ("no secret .* in use", change(where, "rotate", 2, 0, sealed=right), right),
        ("changed by somebody else", change(where, prior=3, sealed=right), right),
    ]
    for reason, said, sealed in wrong:
        name, refused = await hand_in(office, said, sealed)
        assert name == "change.refused"
        assert re.search(reason, refused["reason"]), refused["reason"]
    assert office.vault.hashes() == before and place(where) not in office.keeper.book.secrets


async def test_nobody_but_a_decision_key_is_heard_and_only_with_the_person_it_commits_to(office: Office) -> None:
    where = a_place()
    sealed = sealed_for(office.identity, where)
    said = change(where, sealed=sealed)
    forged = office.signed(said).model_copy(update={"signature": b"\x00" * 64})
    name, refused = await hand_in(office, said, sealed, statement=forged)
    assert (name, refused["code"]) == ("change.refused", "bad_signature")
    name, refused = await hand_in(office, said, sealed, opening=OPENING.model_copy(update={"person_name": "Eve"}))
    assert (name, refused["code"]) == ("change.refused", "bad_signature")


async def test_where_nothing_can_be_written_it_is_tried_again_and_says_why(office: Office, tmp_path: Path) -> None:
    where, gone = a_place(), Vault(tmp_path / "gone", office.identity)
    sealed = sealed_for(office.identity, where)
    with pytest.raises(Transient, match=r"cannot be kept in .*: No such file") as caught:
        await hand_in(office, change(where, sealed=sealed), sealed, gone)
    assert caught.value.code == "disk"
    assert place(where) not in office.keeper.book.secrets
    assert (await put(office, where))[0] == "secret.applied"


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A disk without room."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(tmp_path)], check=True)
    (tmp_path / "filler").write_bytes(b"x" * 4096)
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


async def test_a_full_disk_is_said_and_leaves_nothing_behind(office: Office, full: Path) -> None:
    where = a_place()
    sealed = sealed_for(office.identity, where)
    with pytest.raises(Transient, match="no room is left on its disk; it is tried again"):
        await hand_in(office, change(where, sealed=sealed), sealed, Vault(full, office.identity))
    assert names_in(full) == ["filler"]


def names_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


async def test_an_altered_or_missing_file_opens_nothing_and_says_what_to_do(office: Office) -> None:
    where = a_place()
    await put(office, where)
    secret = office.keeper.book.secrets[place(where)]
    path = office.settings.secrets / f"{secret.versions[0].sealed_hash}.age"
    path.write_bytes(sealed_for(office.identity, where, key="swapped"))
    with pytest.raises(Permanent, match="is not what was kept; rotate"):
        await office.vault.open(secret, 1)
    path.unlink()
    with pytest.raises(Permanent, match="is missing; rotate the secret, or restore a backup"):
        await office.vault.open(secret, 1)
    await hand_in(office, change(where, "revoke", 0, 1))  # other tests open all that there is


async def test_a_file_under_the_name_of_another_secret_opens_nothing(office: Office) -> None:
    """Even where the statement itself names the file: what it is for is sealed in with it."""
    where, other = a_place(), a_place()
    await put(office, where)
    secret = office.keeper.book.secrets[place(where)]
    moved = type(secret)(**(vars(secret) | {"place": place(other)}))
    with pytest.raises(Permanent, match="was sealed for another place"):
        await office.vault.open(moved, 1)


async def test_an_installation_with_another_identity_opens_nothing(office: Office) -> None:
    where = a_place()
    await put(office, where)
    stranger = Vault(office.settings.secrets, new_identity())
    with pytest.raises(Permanent, match="does not open with this installation's key"):
        await stranger.open(office.keeper.book.secrets[place(where)], 1)
