"""Access tokens are refreshed once, whatever the number of calls and processes; what is kept of them is sealed."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyrage
import pytest

from services.connectors.kinds.http import KIND
from services.connectors.kinds.oauth2 import AccessTokens
from services.connectors.secrets.types import SecretValue
from shared.db import Database
from shared.errors import Permanent, Refused, Transient
from shared.sealing import Identity
from shared.testing.servers import Servers
from tests.counterparts.calls import Call, prepare, secret, tunnel
from tests.counterparts.server import Counterpart, Seen, serving, whole
from tests.counterparts.tokens import TokenAddress

BEGAN = "rt-first-0123456789abcdef"


@pytest.fixture
async def db(servers: Servers):  # type: ignore[no-untyped-def]
    found = Database(servers.settings("connectors"), pool_size=2)
    await found.start()
    yield found
    await found.stop()


@pytest.fixture
def identity() -> Identity:
    return Identity(str(pyrage.x25519.Identity.generate()))


@pytest.fixture
def there() -> TokenAddress:
    return TokenAddress(slow_s=0.05)


@pytest.fixture
def served(there: TokenAddress) -> Iterator[Counterpart]:
    """The token address, and what takes its newest access token only."""

    async def handle(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.path == "/token":
            await there.handle(seen, writer)
            return
        right = there.granted and seen.header("authorization") == f"Bearer {there.access}"
        writer.write(whole(200 if right else 401, f"shown: {seen.header('authorization')}".encode()))

    with serving(handle) as found:
        yield found


def files_of(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def value(served: Counterpart, version: int = 1, **more: str) -> SecretValue:
    client = {"client_id": "client", "client_secret": "cl sec/ret-value", "refresh_token": BEGAN}
    return secret("oauth2", version, token_url=f"{served.url}/token", **client, **more)


def calling(served: Counterpart, access: AccessTokens, shown: SecretValue, **more: Any) -> Call:
    declared = {"base": served.url, "auth": ["oauth2"], "retries": 0}
    return prepare(KIND, declared, http=tunnel("GET", "/things"), secrets=[shown], access=access, **more)


async def test_many_calls_in_several_processes_refresh_once(
    db: Database, identity: Identity, tmp_path: Path, served: Counterpart, there: TokenAddress
) -> None:
    """Each AccessTokens stands for a process: they share the database and the folder alone."""
    processes = [AccessTokens(db, tmp_path, identity) for _ in range(4)]
    calls = [calling(served, access, value(served)) for access in processes for _ in range(5)]
    await asyncio.gather(*(KIND.run(call) for call in calls))
    assert {call.status for call in calls} == {"200"}
    assert (there.granted, there.reused) == (1, 0)


async def test_a_token_that_is_not_taken_any_more_is_refreshed_with_the_newest_refresh_token(
    db: Database, identity: Identity, tmp_path: Path, served: Counterpart, there: TokenAddress
) -> None:
    access = AccessTokens(db, tmp_path, identity)
    await KIND.run(calling(served, access, value(served)))
    there.granted += 1  # the provider forgot it
    calls = [calling(served, AccessTokens(db, tmp_path, identity), value(served)) for _ in range(6)]
    await asyncio.gather(*(KIND.run(call) for call in calls))
    assert {call.status for call in calls} == {"200"}
    assert (len(there.asked), there.reused) == (2, 0)
    assert there.asked[1]["refresh_token"] == "rt-number-1-0123456789abcdef"


async def test_what_ends_soon_is_refreshed_before_it_is_shown(
    db: Database, identity: Identity, tmp_path: Path, served: Counterpart, there: TokenAddress
) -> None:
    there.lifetime = 5
    access = AccessTokens(db, tmp_path, identity)
    for _ in range(2):
        await KIND.run(calling(served, access, value(served)))
    assert there.granted == 2


async def test_an_authorisation_that_was_withdrawn_says_what_to_do(
    db: Database, identity: Identity, tmp_path: Path, served: Counterpart, there: TokenAddress
) -> None:
    there.refresh = "somebody else used it"
    with pytest.raises(Permanent, match="authorise it again and rotate the secret") as caught:
        await KIND.run(calling(served, AccessTokens(db, tmp_path, identity), value(served)))
    assert caught.value.code == "authorization_ended"
    assert BEGAN not in repr(caught.value) + str(vars(caught.value))


async def test_nothing_in_the_folder_and_nothing_in_an_answer_tells_a_token(
    db: Database, identity: Identity, tmp_path: Path, served: Counterpart, there: TokenAddress
) -> None:
    access = AccessTokens(db, tmp_path, identity)
    call = calling(served, access, value(served, access_token="at-that-is-over-0123"))
    await KIND.run(call)
    assert call.sent == b"shown: Bearer " + b"*" * len(there.access)
    files = files_of(tmp_path)
    assert [path.suffix for path in files] == [".token"]
    raw = files[0].read_bytes()
    assert there.access.encode() not in raw
    assert there.refresh.encode() not in raw
    assert files[0].stat().st_mode & 0o777 == 0o600
    other = Identity(str(pyrage.x25519.Identity.generate()))
    with pytest.raises(pyrage.DecryptError):
        other.open(raw)


async def test_another_version_begins_anew_and_what_is_gone_is_forgotten(
    db: Database, identity: Identity, tmp_path: Path, served: Counterpart, there: TokenAddress
) -> None:
    access = AccessTokens(db, tmp_path, identity)
    await KIND.run(calling(served, access, value(served)))
    there.refresh = BEGAN
    second = value(served, 2)
    await KIND.run(calling(served, access, second))
    assert len(files_of(tmp_path)) == 2
    await access.forget_but(frozenset({second.label}))
    assert len(files_of(tmp_path)) == 2  # another instance may have made it just now
    await access.forget_but(frozenset({second.label}), timedelta(0))
    assert len(files_of(tmp_path)) == 1


def test_a_token_address_that_is_not_declared_is_refused(served: Counterpart) -> None:
    public = {"token_url": "https://elsewhere.example/token"}
    request = calling(served, None, value(served)).request  # type: ignore[arg-type]
    with pytest.raises(Refused, match="not among the hosts"):
        KIND.plan(request, [public])
    plan = KIND.plan(request, [{"token_url": f"{served.url}/token"}])
    assert plan.hosts == (served.key,)


async def test_a_token_that_cannot_be_kept_says_so(
    db: Database, identity: Identity, tmp_path: Path, served: Counterpart
) -> None:
    """Used, the next refresh token would be lost with it."""
    gone = AccessTokens(db, tmp_path / "gone", identity)
    with pytest.raises(Transient, match="cannot be kept") as caught:
        await KIND.run(calling(served, gone, value(served)))
    assert caught.value.code == "disk"
