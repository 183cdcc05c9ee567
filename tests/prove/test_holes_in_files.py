"""Holes in how files lie, and in who has which key (S3, S9, S12)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from infra.prove.areas import files
from infra.prove.areas.chain import check_keys
from infra.prove.areas.lying import check_lying
from infra.prove.check import Book
from infra.prove.target import Target
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Examine, Hole, see

pytestmark = pytest.mark.stack


async def lying(target: Target, book: Book) -> None:
    check_lying(target, book)


async def everything(target: Target, book: Book) -> None:
    book.checks += await files.check(target)


def mode(place: str, loose: int, tight: int, examine: Examine = lying, found_by: str = "") -> Hole:
    def change(stack: Stack, to: int) -> None:
        (stack.layout.state / place).chmod(to)

    return Hole(
        f"{place} {loose:o}",
        examine,
        found_by or f"owner, group, mode: {place}",
        lambda stack: change(stack, loose),
        lambda stack: change(stack, tight),
    )


def placed(name: str, place: str, found_by: str, make: Callable[[Path], object]) -> Hole:
    return Hole(
        name,
        lying,
        found_by,
        lambda stack: make(stack.layout.state / place) and None,
        lambda stack: (stack.layout.state / place).unlink(),
    )


HOLES = [
    mode("keys/console/decision.key", 0o644, 0o600),
    mode("keys/bridge", 0o755, 0o700),
    mode("keys/operator.token", 0o640, 0o600),
    mode("keys/ingest.token", 0o644, 0o640),
    mode("keys/admin/bus.nk", 0o644, 0o600),
    mode("keys/connectors/secrets.key", 0o644, 0o600),
    mode("keys/bridge/fingerprint.key", 0o644, 0o600),
    mode("secrets", 0o755, 0o700),
    mode("tls/nats.key", 0o644, 0o600),
    mode("run/console/op.sock", 0o666, 0o600),
    mode("pg", 0o755, 0o700),
    mode("nats/js", 0o755, 0o700),
    mode("logs", 0o777, 0o755, found_by="nothing that everybody can write"),
    placed("planted link", "run/site/stray", "no link anywhere", lambda path: path.symlink_to("/etc/passwd")),
    placed("stray key", "keys/console/second.key", "no stray file among the keys", lambda path: path.write_text("")),
]


@pytest.mark.parametrize(
    "hole", [pytest.param(hole, id=hole.name.replace(" ", "-").replace("/", "-")) for hole in HOLES]
)
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


def test_a_key_that_others_can_really_read_is_found(proving: Proving) -> None:
    keys = proving.stack.layout.keys / "console"

    def change(folder: int, key: int) -> None:
        keys.chmod(folder)
        (keys / "decision.key").chmod(key)

    hole = Hole(
        "readable",
        everything,
        "read: keys/console/decision.key",
        lambda _: change(0o755, 0o644),
        lambda _: change(0o700, 0o600),
    )
    see(hole, proving.stack)


def test_a_key_used_for_a_second_duty_is_found(proving: Proving) -> None:
    """The running bridge has read its keys; only the file changes."""
    gate, envelope = (proving.stack.layout.keys / "bridge" / f"{duty}.key" for duty in ("gate", "envelope"))
    kept = envelope.read_text()
    hole = Hole(
        "one key",
        check_keys,
        "the same key as",
        lambda _: envelope.write_text(gate.read_text()) and None,
        lambda _: envelope.write_text(kept) and None,
    )
    see(hole, proving.stack)
