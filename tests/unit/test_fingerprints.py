"""Keyed fingerprints of secret values (S14): what has one, in which encodings it is found, and that nothing of it is said."""

import base64
import html
import json
import pickle
import secrets
import time
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from schemas.bridge.v1 import Finding
from schemas.connectors.v1 import FingerprintsTaken
from services.bridge.inspection.checks.own_secrets import OwnSecrets
from services.bridge.inspection.examine import examine
from services.bridge.inspection.known import believes
from services.connectors.fingerprints.domain import bits, fingerprints
from shared.clock import now
from shared.errors import Transient
from shared.fingerprints import FingerprintKey
from tests.factories.fingerprints import KEY, known

VALUE = 'Zq81k/Vd93+Lm"Pw47TxRb&20Y'
"""With characters that every encoding changes."""
PEM = (
    "-----BEGIN PRIVATE KEY-----\n"
    + "\n".join(secrets.token_hex(32) for _ in range(3))
    + "\n-----END PRIVATE KEY-----\n"
)


def findings(body: str, *values: str, title: str = "t") -> list[Finding]:
    own = OwnSecrets.of_frame(known(*values).to_frame())
    job = {"title": title, "summary": "", "body": body, "prior_body": None}
    return [each for each in examine(job, own) if each.rule == "own_secret"]


def encoded(value: str) -> dict[str, str]:
    raw = value.encode()
    return {
        "as it is": value,
        "within a word": f"xx{value}yy",
        "base64": base64.b64encode(raw).decode(),
        "base64 of user and password": base64.b64encode(f"user:{value}".encode()).decode(),
        "base64 one further": base64.b64encode(f"users:{value}!".encode()).decode(),
        "base64 for addresses": base64.urlsafe_b64encode(f"u:{value}".encode()).decode().rstrip("="),
        "hex": f"00{raw.hex()}ff",
        "hex in capitals": raw.hex().upper(),
        "in an address": f"https://h.example/?k={quote(value, safe='')}&x",
        "in an address, small": quote(value, safe="").replace("%2F", "%2f").replace("%2B", "%2b"),
        "as a path": quote(value),
        "in a form": quote_plus(value),
        "in JSON": json.dumps({"key": value}),
        "in HTML": html.escape(value),
        "by numbers": "".join(f"&#{ord(char)};" for char in value),
        "in pieces of markup": f"{value[:8]}**{value[8:13]}**{value[13:]}",
        "around a tag": f"{value[:9]}<b></b>{value[9:]}",
        "with what is not seen": f"{value[:7]}\u200b{value[7:]}",
        "folded": f"{value[:13]}\n{value[13:]}",
        "folded in a quote": f"> {value[:13]}\n> {value[13:]}",
    }


@pytest.mark.parametrize("how", encoded(VALUE))
def test_a_value_is_found_in_every_encoding(how: str) -> None:
    text = f"# A page\n\nWords before.\n\n{encoded(VALUE)[how]}\n\nWords after.\n"
    found = findings(text, "another-value-8fK2pq", VALUE)
    assert [(each.level, each.excerpt) for each in found] == [("block", "")], how
    assert not findings(text, "another-value-8fK2pq"), "nobody has put it"


def test_the_line_is_named_and_the_title_looked_at() -> None:
    assert [each.line for each in findings(f"a\n\nb {VALUE}\n", VALUE)] == [3]
    assert findings("words", VALUE, title=f"about {VALUE}")[0].message.startswith("In the title")


def test_a_part_of_a_value_is_none() -> None:
    assert not findings(f"{VALUE[:-1]} {VALUE[1:]} {VALUE[:12]}", VALUE)


def test_values_with_spaces_and_line_breaks_are_found() -> None:
    phrase = "vier Esel tanzen 7 Walzer im Regen"
    assert findings(f"our phrase: {phrase}.", phrase)
    assert not findings("vier Esel tanzen im Regen, 7 Walzer", phrase)
    assert findings(f"one line of it: {PEM.splitlines()[2]}", PEM)
    assert findings(base64.b64encode(PEM.encode()).decode(), PEM)


@pytest.mark.parametrize(
    "weak", ["", "short", "elevenbytes", "aaaaaaaaaaaaaaaa", "abcdefghijklmnop", "1234567890123456", "20202020202020", "abababababababab", "   padded    "]
)  # fmt: skip
def test_weak_and_short_values_have_none(weak: str) -> None:
    assert fingerprints(weak, KEY) == frozenset() and (len(weak) < 12 or bits(weak.encode()) < 32)


@pytest.mark.parametrize("strong", ["a8Kd03jfLq2x", "9f2c41d07b5e", secrets.token_urlsafe(9), "correct horse battery"])
def test_strong_ones_have_some(strong: str) -> None:
    assert len(fingerprints(strong, KEY)) >= 5


def test_a_set_says_nothing_without_its_key() -> None:
    other = FingerprintKey(bytes(32))
    mine, theirs = fingerprints(VALUE, KEY), fingerprints(VALUE, other)
    assert {each.whole for each in mine}.isdisjoint(each.whole for each in theirs)
    assert VALUE[:6] not in repr(mine) and KEY.canary not in repr(known(VALUE))


def test_only_the_key_makes_a_set() -> None:
    taken = FingerprintsTaken(
        key_id=KEY.key_id, entries=tuple(fingerprints(VALUE, KEY)), at=now(), version=1, mac="0" * 64
    )
    signed = taken.model_copy(update={"mac": KEY.mac(taken)})
    assert believes(signed, KEY) and not believes(taken, KEY)
    assert not believes(signed, FingerprintKey(bytes(32)))
    for change in ({"entries": ()}, {"version": 2}, {"at": now()}, {"part": 2}, {"parts": 2}):
        assert not believes(signed.model_copy(update=change), KEY)
    assert not believes(signed, FingerprintKey(KEY.seeking)), "what finds values makes no set"


def test_a_key_is_written_down_nowhere(tmp_path: Path) -> None:
    raw = secrets.token_bytes(32)
    (tmp_path / "fingerprint.key").write_text(base64.b64encode(raw).decode())
    key = FingerprintKey.load(tmp_path)
    assert key.key_id in repr(key) and key.key_id == FingerprintKey(raw).key_id
    with pytest.raises(TypeError):
        pickle.dumps(key)
    for broken in ("", "!!", base64.b64encode(raw[:8]).decode()):
        (tmp_path / "fingerprint.key").write_text(broken)
        with pytest.raises(Transient):
            FingerprintKey.load(tmp_path)


def test_no_other_finding_quotes_a_value() -> None:
    value = "aB3dK9xQ77LmP02z"
    own = OwnSecrets.of_frame(known(value).to_frame())
    body = f'password = "{value}"\n\n<script>{value}</script> [a](javascript:{value}) {value}@firma.de\n'
    said = examine({"title": "t", "summary": "", "body": body, "prior_body": None}, own)
    assert said[0].rule == "own_secret" and len(said) > 3
    assert not [each for each in said if value[:4] in each.message + each.excerpt]


def test_the_largest_text_takes_less_than_a_second() -> None:
    own = OwnSecrets.of_frame(known(*(secrets.token_urlsafe(30) for _ in range(200))).to_frame())
    run, began = secrets.token_hex(256 * 1024), time.process_time()
    assert own.values(run, set()) == {} and time.process_time() - began < 1.5
