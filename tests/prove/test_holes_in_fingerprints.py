"""Holes in what the lock knows of our secrets: each lets their values pass, or would, if the lock did not stop everything instead (S14)."""

import base64

import pytest

from infra.local.layout import FINGERPRINT
from infra.prove.areas.chain import check_keys
from infra.prove.areas.fingerprints import check_found
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, see

pytestmark = pytest.mark.stack
BRIDGE = "console_site_db"
_KEEP = "CREATE TABLE public.kept AS SELECT * FROM app.fingerprints"
_BACK = """DELETE FROM app.fingerprints
INSERT INTO app.fingerprints SELECT * FROM public.kept
DROP TABLE public.kept"""


def stored(name: str, found_by: str, change: str) -> Hole:
    return by_sql(name, check_found, found_by, BRIDGE, f"{_KEEP}\n{change}", _BACK)


def set_body(pattern: str, replacement: str) -> str:
    said = f"regexp_replace(convert_from(body, 'UTF8'), '{pattern}', '{replacement}')"
    return f"UPDATE app.fingerprints SET body = convert_to({said}, 'UTF8')"


HOLES = [
    stored("emptied fingerprints", "there is no complete set", "DELETE FROM app.fingerprints"),
    stored("a set without entries", "not what the connectors made", set_body('"entries":\\[[^]]*\\]', '"entries":[]')),
    stored("an old set renewed", "not what the connectors made", set_body('"at":"20', '"at":"21')),
    stored("a set in pieces", "there is no complete set", "UPDATE app.fingerprints SET parts = 2"),
    stored("not readable", "cannot be read", "UPDATE app.fingerprints SET body = 'x'"),
]


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


def test_a_key_that_the_connectors_do_not_have_is_found(proving: Proving) -> None:
    path = proving.stack.layout.keys / "bridge" / FINGERPRINT
    kept = path.read_text()

    def write(_: Stack, text: str) -> None:
        path.write_text(text)

    other = base64.b64encode(bytes(32)).decode()
    for examine, found_by in (
        (check_found, "the key of another start"),
        (check_keys, "both holders of fingerprint.key have the same"),
    ):
        hole = Hole("other key", examine, found_by, lambda stack: write(stack, other), lambda stack: write(stack, kept))
        see(hole, proving.stack)
