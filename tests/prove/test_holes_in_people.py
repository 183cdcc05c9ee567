"""Holes in who may say who somebody is (S3, S7, S8, S12): planted, found, healed."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from uuid import uuid4

import pytest

from infra.prove.areas.identity_page import NONCE, check_page, check_token
from infra.prove.areas.people import check_forms, check_kept, check_keys, check_links, check_standings
from infra.prove.areas.sign_in_tokens import check_receivers
from infra.prove.check import Book
from infra.prove.fetch import Answer
from infra.prove.guests import Guest
from infra.prove.target import Target
from shared.signing import PublicKeys
from tests.factories.people import OWNER, become_owner
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.fakes import SOUND_HEADERS, Reply, Request, front
from tests.prove.planting import Hole, by_sql, named, see


def twin(stack: Stack) -> None:
    """The identity key's file holds the decision key."""
    folder = stack.layout.keys / "console"
    shutil.copyfile(folder / "identity.key", folder / "identity.kept")
    shutil.copyfile(folder / "decision.key", folder / "identity.key")


def untwin(stack: Stack) -> None:
    folder = stack.layout.keys / "console"
    shutil.copyfile(folder / "identity.kept", folder / "identity.key")
    (folder / "identity.kept").unlink()


HOLES = [
    by_sql(
        "a link kept as it is",
        check_kept,
        "kept as hashes",
        "console_db",
        "INSERT INTO app.invitations (id, token_hash, role, name, handle, created_at, created_by, expires_at) VALUES (gen_random_uuid(), 'the-token-itself', 'owner', '', '', now(), 'plant', now())",
        "DELETE FROM app.invitations WHERE created_by = 'plant'",
    ),
    by_sql(
        "a role that nobody was told of",
        check_standings,
        "were told what people may do",
        "console_db",
        f"UPDATE app.people SET role = 'admin' WHERE handle = '{OWNER}'",
        f"UPDATE app.people SET role = 'owner' WHERE handle = '{OWNER}'",
    ),
    by_sql(
        "a site that makes somebody more than the console said",
        check_standings,
        "holds what the console said",
        "site_db",
        "UPDATE app.standings SET role = 'owner of the site' WHERE role = 'owner'",
        "UPDATE app.standings SET role = 'owner' WHERE role = 'owner of the site'",
    ),
    Hole("one key for identity and decisions", check_keys, "serves no other duty", twin, untwin),
]


@pytest.fixture
def told(proving: Proving) -> Iterator[Stack]:
    """With an owner whom the surfaces know."""
    become_owner(proving.stack)
    yield proving.stack


@pytest.mark.stack
@pytest.mark.parametrize("hole", named(HOLES))  # type: ignore[arg-type]
def test_a_hole_is_found_and_healed(told: Stack, hole: Hole) -> None:
    see(hole, told)


def wrong(book: Book) -> list[str]:
    return [f"{check.attempt}: {check.got}" for check in book.checks if not check.ok]


def lets_everybody_in(request: Request) -> Reply:
    """A receiver that believes every token."""
    if request.path.startswith("/sign-in"):
        return 303, {**SOUND_HEADERS, "Set-Cookie": "site_pre=abc; HttpOnly", "Location": "/x"}, ""
    if request.method == "POST":
        return 303, {**SOUND_HEADERS, "Location": "/signed-in?code=x"}, ""
    return 303, {**SOUND_HEADERS, "Set-Cookie": "site=session; HttpOnly", "Location": "/"}, ""


@pytest.mark.stack
async def test_a_surface_that_believes_every_token_is_found(proving: Proving) -> None:
    target, book = Target.load(proving.stack.state), Book("test")
    with front(lets_everybody_in) as base:
        urls = {**target.config.urls, "site": base, "workspace": base}
        lured = replace(target, config=target.config.model_copy(update={"urls": urls}))
        try:
            await check_receivers(lured, book)
        finally:
            await lured.close()
    found = wrong(book)
    for says in ("the decision key", "for the other surface", "five minutes ago", "another browser", "without a signature", "posted from another origin"):  # fmt: skip
        assert any(says in each for each in found), says
    assert not any("that is right" in each for each in found)


def always(status: int, body: str = '<input name="token" value="abc"><p>x</p>') -> Callable[[Request], Reply]:
    return lambda _: (status, SOUND_HEADERS, body)


async def test_a_viewer_who_may_invite_is_found() -> None:
    book = Book("test")
    with front(always(200)) as base:
        await check_forms(book, base, Guest("viewer", uuid4(), "session", "token"))
    found = wrong(book)
    assert any("/people/invitations" in each for each in found)
    assert any("form without the right: /guests" in each for each in found)


def tells_more(request: Request) -> Reply:
    return 404, SOUND_HEADERS, f"<p>{request.path.split('/')[1]} is unknown</p>"


async def test_a_link_that_tells_what_it_was_is_found() -> None:
    book = Book("test")
    with front(tells_more) as base:
        await check_links(book, base)
    assert any("say the same" in each for each in wrong(book))


SOUND = {"content-security-policy": "default-src 'none'; form-action http://site; frame-ancestors 'none'", "referrer-policy": "strict-origin"}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("content-security-policy", SOUND["content-security-policy"].replace("http://site", "*")),
        ("content-security-policy", SOUND["content-security-policy"].replace("http://site", "http://site https://evil.example")),
        ("content-security-policy", SOUND["content-security-policy"].replace("default-src 'none'", "default-src 'self'")),
        ("content-security-policy", "default-src 'none'; form-action http://site"),
        ("content-security-policy", ""),
        ("referrer-policy", "unsafe-url"),
    ],
)  # fmt: skip
def test_a_form_that_could_go_elsewhere_is_found(name: str, value: str) -> None:
    sound, loose = Book("test"), Book("test")
    check_page(sound, "viewer", Answer(200, SOUND, ""), "http://site/base")
    check_page(loose, "viewer", Answer(200, {**SOUND, name: value}, ""), "http://site/base")
    assert not wrong(sound) and wrong(loose)


def test_a_page_without_a_token_of_ours_is_found() -> None:
    book = Book("test")
    check_token(book, "site", Answer(200, {}, f'<input name="token" value="a.b.{NONCE}">'), PublicKeys({}))
    assert any("signed as it must be" in each for each in wrong(book))
