"""Secrets are sealed with what they are for, and no way of looking at one shows its value."""

import copy
import logging
import pickle
import shutil
import subprocess
import traceback
from pathlib import Path
from typing import get_args

import pyrage
import pytest

from schemas.outward import Owner, SecretPlace, SecretType
from services.connectors.secrets.types import SecretValue
from shared.errors import Permanent, Refused
from shared.sealing import TYPES, Identity, check_fields, read_place, seal, unseal
from shared.sealing.age import PURPOSE, ROUND
from tests.factories.secrets import new_identity, place, sealed_for

VALUE = 'pä§§ "w\\rd€-planted'
FIELDS: dict[SecretType, dict[str, str]] = {
    "api_key": {"key": "sk-planted-1234"},
    "basic": {"username": "mara", "password": VALUE},
    "oauth2": {"token_url": "https://id.example.org/token", "client_id": "c", "client_secret": "planted~ 1"},
    "imap": {"host": "imap.example.org", "username": "a*b c@example.org", "password": VALUE},
    "smtp": {"host": "smtp.example.org", "username": "m", "password": VALUE, "sender": "m@example.org"},
    "signing_key": {"algorithm": "ed25519", "key": f"-----BEGIN PRIVATE KEY-----\n{VALUE}\n-----END"},
}


@pytest.mark.parametrize("kind", get_args(SecretType))
def test_every_type_comes_back_as_it_was_sealed(kind: SecretType) -> None:
    identity = new_identity()
    found = unseal(identity, seal(identity.recipient, place(), kind, FIELDS[kind]))
    assert (found.place, found.type) == (place(), kind)
    assert FIELDS[kind].items() <= found.fields.opened().items()
    assert not set(found.fields.public()) & set(TYPES[kind].secret_names())


def test_nobody_else_opens_it_and_a_changed_file_opens_for_nobody() -> None:
    identity, other = new_identity(), new_identity()
    sealed = sealed_for(identity, "agent/llm/openai")
    with pytest.raises(Permanent, match="does not open with this installation's key"):
        unseal(other, sealed)
    for at in (10, len(sealed) // 2, len(sealed) - 1):
        with pytest.raises(Permanent):
            unseal(identity, sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :])


@pytest.mark.parametrize(
    "plain",
    [
        b"{}",
        b"not json",
        b'{"purpose":"other","place":{},"type":"api_key","fields":{"key":"v"}}',
        b'{"purpose":"%s","place":{"surface":"lock","connector":"x","name":"y"},"type":"api_key","fields":{"key":"v"}}'
        % PURPOSE.encode(),
        b'{"purpose":"%s","place":{"surface":"agent","connector":"x","name":"y"},"type":"api_key","fields":{"k":"v"}}'
        % PURPOSE.encode(),
    ],
)
def test_what_opens_but_is_no_secret_is_refused_without_a_word_of_it(plain: bytes) -> None:
    identity = new_identity()
    raw = pyrage.encrypt(plain, [pyrage.x25519.Recipient.from_str(identity.recipient)])
    with pytest.raises(Permanent, match="holds no secret of this product") as caught:
        unseal(identity, raw)
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_the_file_says_little_about_how_long_the_value_is() -> None:
    identity = new_identity()
    sizes = {len(identity.open(sealed_for(identity, "agent/llm/openai", key="k" * n))) for n in (8, 20, 40)}
    assert sizes == {ROUND}


def test_no_repr_pickle_copy_or_format_shows_a_value() -> None:
    identity = new_identity()
    found = unseal(identity, sealed_for(identity, "agent/llm/openai", key="sk-planted-1234"))
    value = SecretValue(found.place, found.type, 1, found.fields.opened())
    for each in (found, value):
        assert "planted" not in f"{each!r} {each}"
    assert (
        "planted" not in f"{found.fields!r} {found.fields} {found.fields.model_dump()} {found.fields.model_dump_json()}"
    )
    for hidden in (value, identity):
        for attempt in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError):
                attempt(hidden)
    assert "SECRET" not in f"{identity!r} {identity}"


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("api_key", {"key": "planted\nvalue"}),
        ("api_key", {"key": ""}),
        ("api_key", {"key": "planted "}),
        ("api_key", {"key": "plänted"}),
        ("api_key", {"planted": "x"}),
        ("api_key", {"key": "planted" * 5000}),
        ("api_key", {"key": "planted\x00"}),
        ("api_key", {"key": "planted\ud800"}),
        ("basic", {"username": "plan:ted", "password": "x"}),
        ("imap", {"host": "h", "port": "planted", "username": "u", "password": "x"}),
        ("imap", {"host": "h", "security": "planted", "username": "u", "password": "x"}),
        ("oauth2", {"token_url": "planted", "client_id": "c", "client_secret": "x"}),
        ("oauth2", {"token_url": "https://id.example.org", "client_id": "planted"}),
    ],
)
def test_a_refusal_names_the_field_and_never_what_was_given(
    kind: SecretType, given: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Refused) as caught:
        check_fields(kind, given)
    logging.getLogger("test").error("refused", exc_info=caught.value)
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
    assert "planted" not in told.replace(__file__, "").split("Refused", 1)[1]


@pytest.mark.parametrize("text", ["agent/llm/openai", "agent/mail/user:7/inbox", "site/x/guest:a/b:c/name"])
def test_a_place_is_read_as_it_is_written(text: str) -> None:
    assert str(read_place(text)) == text


def test_an_owner_that_looks_like_a_path_is_not_another_place() -> None:
    odd = SecretPlace(surface="agent", connector="mail", owner=Owner(kind="user", id="7/x"), name="inbox")
    assert read_place(str(odd)) == odd


@pytest.mark.parametrize("text", ["", "agent", "agent/llm", "lock/llm/x", "agent/LLM/x", "agent/llm/7/x", "agent//x", "agent/llm/user:/x"])  # fmt: skip
def test_what_names_no_place_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"place|owner"):
        read_place(text)


AGE = shutil.which("age")


@pytest.mark.skipif(AGE is None, reason="Debian's age is missing; `make test` installs it where it may")
def test_debians_age_opens_a_file_with_the_right_identity_and_with_no_other(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.txt", tmp_path / "wrong.txt"
    keys = [pyrage.x25519.Identity.generate() for _ in range(2)]
    for path, key in zip((right, wrong), keys, strict=True):
        path.write_text(f"{key}\n")
    sealed = tmp_path / "secret.age"
    sealed.write_bytes(sealed_for(Identity(str(keys[0])), "agent/llm/openai", key="sk-planted-1234"))
    opened = age("-d", "-i", str(right), str(sealed))
    assert opened.returncode == 0 and b'"key":"sk-planted-1234"' in opened.stdout, opened.stderr
    refused = age("-d", "-i", str(wrong), str(sealed))
    assert refused.returncode != 0 and not refused.stdout


def age(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    assert AGE is not None
    return subprocess.run([AGE, *arguments], capture_output=True, check=False, timeout=30)
