"""Seals: one signature for a transaction's envelopes, each checkable alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import BadSignature
from shared.outbox.seal import SealChecker, Sealer
from shared.signing import PublicKeys, SigningKey

KEY = SigningKey(b"e" * 32)
KEYS = PublicKeys({"envelope": {KEY.key_id: KEY.public}, "gate": {}})
SUBJECT = "to.site.item.published"


def sealed(bodies: list[bytes]) -> list[str]:
    return Sealer(KEY).seal([(SUBJECT, body) for body in bodies])


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=70))
def test_every_envelope_of_a_batch_is_accepted_alone(bodies: list[bytes]) -> None:
    checker = SealChecker(KEYS)
    for body, seal in zip(bodies, sealed(bodies), strict=True):
        checker.check(seal, SUBJECT, body)


@given(st.lists(st.binary(max_size=9), min_size=2, max_size=20, unique=True), st.data())
def test_a_seal_fits_no_other_body_subject_or_place(bodies: list[bytes], data: st.DataObject) -> None:
    seals = sealed(bodies)
    one, other = data.draw(st.permutations(range(len(bodies))))[:2]
    checker = SealChecker(KEYS)
    with pytest.raises(BadSignature):
        checker.check(seals[one], SUBJECT, bodies[other])
    with pytest.raises(BadSignature):
        checker.check(seals[one], "to.console.item.published", bodies[one])


@pytest.mark.parametrize(
    "seal", [None, "", "1 x", "2 a b 0 1 ", f"1 {KEY.key_id} !! 0 1 ", f"1 {KEY.key_id} AAAA 5 1 "]
)
def test_a_missing_or_unreadable_seal_is_refused(seal: str | None) -> None:
    with pytest.raises(BadSignature):
        SealChecker(KEYS).check(seal, SUBJECT, b"{}")


def test_a_seal_by_a_key_of_another_duty_is_refused() -> None:
    gate = SigningKey(b"g" * 32)
    keys = PublicKeys({"envelope": {KEY.key_id: KEY.public}, "gate": {gate.key_id: gate.public}})
    with pytest.raises(BadSignature):
        SealChecker(keys).check(Sealer(gate).seal([(SUBJECT, b"{}")])[0], SUBJECT, b"{}")


def test_an_inner_node_is_no_leaf() -> None:
    """A body made of two hashes must not pass for a node (the prefix bytes differ)."""
    bodies = [b"a", b"b", b"c", b"d"]
    seal = sealed(bodies)[0].split(" ")
    seal[3], seal[4] = "0", "2"
    with pytest.raises(BadSignature):
        SealChecker(KEYS).check(" ".join(seal), SUBJECT, b"a")
