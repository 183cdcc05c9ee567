"""Holes around downloads: copies that others read, links of somebody else's, keys that do not agree, an nginx that sends what it should not."""

import os
import shutil
from uuid import uuid4

import pytest

from infra.nginx.config import render
from infra.nginx.links import render_links
from infra.prove.areas.downloads import check_keys, check_reach, check_rows, check_spool
from infra.prove.areas.edge import examine
from infra.prove.areas.lying import check_lying
from infra.prove.check import Book
from infra.prove.target import Target
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, named, see
from tests.prove.test_holes_at_the_edge import HOME, an_edge

SOUND = render(an_edge(spool=HOME / "spool", links=HOME / "links.conf"))
MD5 = 'secure_link_md5 "$secure_link_expires$uri $edge_link_key";'
AT_THE_EDGE = [
    ("internal;\n      alias", "alias", "is open to everybody"),
    ("disable_symlinks on;", "disable_symlinks off;", "links are followed"),
    ("disable_symlinks on;", "", "links are followed"),
    ("location ^~ /spool/ {", "location /w/ { alias /var/lib/workspace/; }\n location ^~ /spool/ {", "alias /var/lib/workspace/ is open"),
    ("proxy_ignore_headers X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;", "", "an answer may lead to files"),
    ('proxy_set_header X-Edge-Spool "";', "", "X-Edge-Spool comes from the client"),
    ("secure_link $arg_s,$arg_e;", "", "signatures of links are not looked at"),
    (MD5, MD5.replace("$secure_link_expires", ""), "do not cover time"),
    (MD5, MD5.replace("$uri", ""), "do not cover time"),
    ('if ($secure_link = "0")', 'if ($secure_link = "7")', "a forged or expired link passes"),
    ('if ($edge_link_key = "")', 'if ($edge_link_key = "x")', "a forged or expired link passes"),
]  # fmt: skip


@pytest.mark.parametrize(("sound", "hole", "found_by"), AT_THE_EDGE)
def test_a_hole_at_the_edge_is_found(sound: str, hole: str, found_by: str) -> None:
    assert sound in SOUND
    clean, book = Book("edge"), Book("edge")
    examine(clean, "test", SOUND.encode(), "site.example")
    assert not [check for check in clean.checks if check.failed]
    examine(book, "test", SOUND.replace(sound, hole).encode(), "site.example")
    found = [f"{check.attempt}: {check.got}" for check in book.checks if check.failed]
    assert any(found_by in each for each in found), found


def spool_mode(name: str, mode: int, examine: object, found_by: str) -> Hole:
    before: list[int] = []

    def plant(stack: Stack) -> None:
        before.append(stack.layout.spool.stat().st_mode & 0o7777)
        stack.layout.spool.chmod(mode)

    return Hole(name, examine, found_by, plant, lambda stack: stack.layout.spool.chmod(before[-1]))  # type: ignore[arg-type]


async def lying(target: Target, book: Book) -> None:
    check_lying(target, book)


async def keys(target: Target, book: Book) -> None:
    check_keys(target, book)
    book.holds("nginx", "looked at", "")


def copy(name: str, mode: int, link: bool = False) -> tuple[object, object]:
    """A file that lies among the copies."""

    def plant(stack: Stack) -> None:
        path, facts = stack.layout.spool / name, stack.layout.spool.stat()
        if link:
            path.symlink_to("/etc/passwd")
        else:
            path.write_text("x")
            path.chmod(mode)
        os.chown(path, facts.st_uid, facts.st_gid, follow_symlinks=False)

    return plant, lambda stack: (stack.layout.spool / name).unlink(missing_ok=True)


def of_copies(name: str, found_by: str, file: str, mode: int = 0o640, link: bool = False) -> Hole:
    plant, heal = copy(file, mode, link=link)
    return Hole(name, check_spool, found_by, plant, heal)  # type: ignore[arg-type]


def old_key(stack: Stack) -> None:
    conf = stack.layout.links_conf
    conf.parent.mkdir(mode=0o711, exist_ok=True)
    conf.write_text(render_links(stack.layout.links_key.read_text() + "00000000 an-old-one\n", "www-data"))
    conf.chmod(0o600)


ROW = "INSERT INTO core.downloads (owner_kind, owner_id, download_id, path, name, by_mail, expires_at) VALUES"
PLACE = "INSERT INTO app.download_places (download_id, owner_kind, owner_id, token_hash, expires_at) VALUES"
CLEAN = "DELETE FROM core.downloads WHERE owner_id LIKE 'planted%'\nDELETE FROM app.download_places WHERE owner_id LIKE 'planted%'"
ID = "00000000-0000-4000-8000-000000000007"


def rows(name: str, found_by: str, row: str, place: str) -> Hole:
    """`row`: whose, path, name, whether for anybody, until; `place`: whose, token, until."""
    plant = "\n".join(each for each in (row and f"{ROW} ('user', {row})", place and f"{PLACE} ('{ID}', 'user', {place})") if each)  # fmt: skip
    return by_sql(name, check_rows, found_by, "agent_db", plant, CLEAN)


DAY = "now() + interval '1 day'"
MINE = f"'planted', '{ID}', 'a.md', 'a.md', false"
HOLES = [
    spool_mode("a spool that everybody may read", 0o755, check_reach, "list: spool"),
    spool_mode("a spool whose mode is not as declared", 0o755, lying, "spool"),
    of_copies("a copy that everybody may read", "is open: 644", str(uuid4()), 0o644),
    of_copies("a link among the copies", "is no plain file", str(uuid4()), link=True),
    of_copies("a file that is no copy", "is no copy of ours", "notes.md"),
    rows("a link that leads to another owner", "agrees with its row", f"{MINE}, {DAY}", f"'planted-other', NULL, {DAY}"),
    rows("a link that lives longer than its row", "agrees with its row", f"{MINE}, {DAY}", f"'planted', NULL, {DAY} + interval '1 hour'"),
    rows("a link of one's own that whoever has a token opens", "has a token", f"{MINE}, {DAY}", f"'planted', sha256('x'), {DAY}"),
    rows("a link that is never over", "no link lives", f"{MINE}, now() + interval '1 year'", "'planted', NULL, now() + interval '1 year'"),
    rows("a memory file that may be fetched", "no memory file", f"'planted', '{ID}', '.memory.md', 'm', false, {DAY}", f"'planted', NULL, {DAY}"),
    Hole("an old key that nginx still takes", keys, "does not sign with", old_key, lambda stack: shutil.rmtree(stack.layout.links_conf.parent)),
]  # fmt: skip
FIRST = (0, 2, 5, 9, 10)
"""Of each kind one is planted in `make test`, all others in the long run."""


@pytest.mark.stack
@pytest.mark.parametrize("hole", named([HOLES[at] for at in FIRST]))
def test_a_planted_hole_is_found_and_nothing_else(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


@pytest.mark.stack
@pytest.mark.long
@pytest.mark.parametrize("hole", named([hole for at, hole in enumerate(HOLES) if at not in FIRST]))
def test_every_other_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
