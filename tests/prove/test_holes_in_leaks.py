"""Holes in what the lock knows of internal columns: each lets their values pass, or would, if the lock approved anything then (S14)."""

import base64

import pytest

from infra.local.layout import LEAKS
from infra.prove.areas.chain import check_keys
from infra.prove.areas.leaks import check_found
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, see

pytestmark = pytest.mark.stack
_KEEP = "CREATE TABLE public.kept_columns AS SELECT * FROM app.column_fingerprints"
_BACK = """DELETE FROM app.column_fingerprints
INSERT INTO app.column_fingerprints SELECT * FROM public.kept_columns
DROP TABLE public.kept_columns"""


def stored(name: str, found_by: str, change: str) -> Hole:
    return by_sql(name, check_found, found_by, "console_site_db", f"{_KEEP}\n{change}", _BACK)


def set_body(pattern: str, replacement: str) -> str:
    said = f"regexp_replace(convert_from(body, 'UTF8'), '{pattern}', '{replacement}')"
    return f"UPDATE app.column_fingerprints SET body = convert_to({said}, 'UTF8')"


HOLES = [
    stored("emptied fingerprints", "has not told yet", "DELETE FROM app.column_fingerprints"),
    stored("an old list renewed", "not what the console made", set_body('"at":"20', '"at":"21')),
]
MORE_HOLES = [
    stored("a list that says less", "not what the console made", set_body('"complete":true', '"complete":false')),
    stored("not readable", "cannot be read", "UPDATE app.column_fingerprints SET body = 'x'"),
]


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


@pytest.mark.long
@pytest.mark.parametrize("hole", named(MORE_HOLES))
def test_more_planted_holes_are_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


def test_a_key_that_the_console_does_not_have_is_found(proving: Proving) -> None:
    path = proving.stack.layout.keys / "bridge" / LEAKS
    kept = path.read_text()

    def write(_: Stack, text: str) -> None:
        path.write_text(text)

    other = base64.b64encode(bytes(32)).decode()
    for examine, found_by in ((check_found, "has not told yet"), (check_keys, f"both holders of {LEAKS}")):
        hole = Hole("other key", examine, found_by, lambda stack: write(stack, other), lambda stack: write(stack, kept))
        see(hole, proving.stack)
