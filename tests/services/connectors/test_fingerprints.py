"""The connectors take fingerprints of their secrets: all of them or none, numbered, once for all instances, and again when anything changed (S14)."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast
from uuid import uuid4

import pytest

from schemas.connectors.v1 import FingerprintsTaken
from services.connectors.book.domain import Book
from services.connectors.book.keeper import Keeper
from services.connectors.fingerprints import store
from services.connectors.fingerprints.domain import canary, fingerprints
from services.connectors.fingerprints.taker import FingerprintTaker
from services.connectors.kinds.token_files import TokenFiles, Tokens
from services.connectors.secrets.types import SecretValue
from shared.clock import now
from shared.errors import Permanent
from shared.fingerprints import FingerprintKey
from shared.health import Health
from tests.factories.secrets import change, place, sealed_for
from tests.services.connectors.conftest import Office
from tests.services.connectors.test_secrets import hand_in, put


@dataclass
class Mine:
    """The book as it would be with nothing in it but this test's secrets; others leave damaged ones behind."""

    office: Office
    connectors: set[str] = field(default_factory=set)
    listeners: list[Any] = field(default_factory=list)

    @property
    def book(self) -> Book:
        held = self.office.keeper.book.secrets
        return Book(secrets={where: each for where, each in held.items() if where.connector in self.connectors})

    def a_place(self, name: str = "openai") -> str:
        connector = f"llm-{uuid4().hex[:8]}"
        self.connectors.add(connector)
        return f"agent/{connector}/{name}"

    def taker(self) -> FingerprintTaker:
        """Not started: `take` is called by hand."""
        office = self.office
        tokens, keeper = TokenFiles(office.settings.secrets, office.identity), cast(Keeper, self)
        return FingerprintTaker(office.db, keeper, office.vault, tokens, office.settings.keys, Health("connectors"))


@pytest.fixture
def mine(office: Office) -> Mine:
    return Mine(office)


async def newest(office: Office) -> FingerprintsTaken:
    query = "SELECT body FROM app.outbox WHERE name = 'fingerprints.taken' ORDER BY position DESC LIMIT 1"
    [row] = await office.rows(query)
    return FingerprintsTaken.model_validate_json(json.dumps(json.loads(row["body"])["data"]))


def a_value() -> str:
    return f"planted-{uuid4().hex}"


async def test_every_secret_in_use_is_in_the_set_and_revoked_ones_are_not(office: Office, mine: Mine) -> None:
    taker = mine.taker()
    where, value = mine.a_place(), a_value()
    key = FingerprintKey.load(office.settings.keys)
    await put(office, where, value)
    assert await taker.take()
    taken = await newest(office)
    assert taken.mac == key.mac(taken) and taken.key_id == key.key_id
    assert canary(key) in taken.entries and fingerprints(value, key) <= set(taken.entries)
    await hand_in(office, change(where, "revoke", 0, 1))
    assert await taker.take()
    after = await newest(office)
    assert after.version == taken.version + 1 and fingerprints(value, key).isdisjoint(after.entries)


async def test_a_young_set_is_not_taken_twice_by_any_instance_but_an_old_one_is(office: Office, mine: Mine) -> None:
    taker = mine.taker()
    await put(office, mine.a_place(), a_value())
    assert await taker.take()
    assert not await taker.take() and not await mine.taker().take()
    async with office.db.transaction() as tx:
        last = await store.last_taken(tx, now())
        await store.set_taken(tx, last.version, last.digest, now() - timedelta(hours=1))
    assert await taker.take()


async def test_opening_a_secret_for_it_is_an_entry_of_the_audit_once(office: Office, mine: Mine) -> None:
    taker, where = mine.taker(), mine.a_place()
    await put(office, where, a_value())
    await taker.take()
    await taker.take()
    rows = await office.rows(
        "SELECT 1 FROM core.call_audit WHERE convert_from(entry, 'UTF8') LIKE $1", f'%"operation":"fingerprint"%"secret":"{where} v1"%'
    )  # fmt: skip
    assert len(rows) == 1


async def test_what_a_provider_granted_since_is_in_the_set(office: Office, mine: Mine) -> None:
    taker, where, granted = mine.taker(), mine.a_place("calendar"), a_value()
    fields = {"token_url": "https://t.example/token", "client_id": "c"}
    sealed = sealed_for(office.identity, where, "oauth2", client_secret=a_value(), **fields)
    await hand_in(office, change(where, type="oauth2", sealed=sealed, public=fields), sealed)
    await taker.take()
    TokenFiles(office.settings.secrets, office.identity).write(
        SecretValue(place(where), "oauth2", 1, {}), Tokens(granted)
    )
    assert await taker.take()
    key = FingerprintKey.load(office.settings.keys)
    assert fingerprints(granted, key) <= set((await newest(office)).entries)


async def test_half_a_set_is_never_handed_over(office: Office, mine: Mine) -> None:
    taker, where = mine.taker(), mine.a_place()
    await put(office, where, a_value())
    secret = office.keeper.book.secrets[place(where)]
    path = office.settings.secrets / f"{secret.versions[0].sealed_hash}.age"
    kept = path.read_bytes()
    path.write_bytes(b"damaged")
    try:
        with pytest.raises(Permanent, match="is not what was kept"):
            await taker.take()
    finally:
        path.write_bytes(kept)
    assert await taker.take()
