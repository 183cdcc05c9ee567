"""Names, ranges, signatures and copies of downloads, each by itself (FI-05, FI-07)."""

import hashlib
import os
import unicodedata
from base64 import urlsafe_b64encode
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.local.keys import link_key
from infra.nginx.links import KEPT, render_links, rotated
from services.agent.downloads.domain import Opened
from services.agent.downloads.links import LinkKeys, read_keys
from services.agent.downloads.names import disposition, shown
from services.agent.downloads.ranges import Part, Unsatisfiable, Version, is_known, part_of
from services.agent.downloads.spool import Spool
from shared.clock import now
from shared.ids import fresh_id

NOW = Version(526, 1_700_000_000_123_456_789, 7)


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=-1000", Part(0, 525)),
        ("bytes=-1", Part(525, 525)),
        ("bytes=0-", Part(0, 525)),
        ("bytes=525-9999", Part(525, 525)),
        ("BYTES = 1 - 2 ", Part(1, 2)),
        ("bytes=5-4", None),
        ("bytes=-", None),
        ("bytes=0-0,2-2", None),
        ("items=0-1", None),
        ("bytes=a-b", None),
        ("bytes=١-٢", None),
        ("bytes=" + "9" * 40 + "-", None),
        ("", None),
    ],
)
def test_fi_07_which_part(asked: str, part: Part | None) -> None:
    assert part_of({"range": asked}, NOW) == part


@pytest.mark.parametrize("asked", ["bytes=600-", "bytes=526-", "bytes=-0", "bytes=600-700"])
def test_fi_07_no_part_lies_outside(asked: str) -> None:
    with pytest.raises(Unsatisfiable):
        part_of({"range": asked}, NOW)


def test_fi_07_a_part_of_another_version_is_the_whole() -> None:
    older = Version(526, NOW.changed - 1, 7)
    assert part_of({"range": "bytes=1-2", "if-range": NOW.tag}, NOW) == Part(1, 2)
    assert part_of({"range": "bytes=1-2", "if-range": NOW.date}, NOW) == Part(1, 2)
    assert part_of({"range": "bytes=1-2", "if-range": older.tag}, NOW) is None
    assert part_of({"range": "bytes=1-2", "if-range": f"W/{NOW.tag}"}, NOW) is None
    assert part_of({"range": "bytes=1-2", "if-range": "Tue, 14 Nov 2000 22:13:20 GMT"}, NOW) is None
    assert is_known({"if-none-match": f'"x", {NOW.tag}'}, NOW) and not is_known({"if-none-match": older.tag}, NOW)
    assert is_known({"if-modified-since": NOW.date}, NOW) and not is_known({"if-modified-since": "nonsense"}, NOW)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plan.pdf", "plan.pdf"),
        ("...", "download"),
        ("", "download"),
        (" . . ", "download"),
        ("\u200ffdp.exe", "fdp.exe"),
        ("a\u202efdp.exe", "afdp.exe"),
        ("U\u0308bersicht.pdf", "\u00dcbersicht.pdf"),
        ("a/b\\c", "a_b_c"),
        ("a\r\nSet-Cookie: x=1.pdf", "a Set-Cookie: x=1.pdf"),
        ("nul\x00l.txt", "null.txt"),
        ("漢" * 300 + ".pdf", "漢" * 83 + ".pdf"),
    ],
)
def test_fi_05_the_name_that_is_shown(name: str, said: str) -> None:
    assert shown(name) == said


@given(st.text(max_size=300))
def test_fi_05_every_name_is_one_header(name: str) -> None:
    head = disposition(name)
    assert head.isascii() and head.isprintable() and head.count('"') == 2 and "\\" not in head
    fallback, _, whole = head.removeprefix('attachment; filename="').partition("\"; filename*=UTF-8''")
    assert fallback.strip(". ") and ";" not in fallback and "%" not in fallback
    assert unquote(whole) == shown(name) and len(shown(name).encode()) <= 255
    assert unicodedata.normalize("NFC", shown(name)) == shown(name)


def test_a_signature_is_what_nginx_computes(tmp_path: Path) -> None:
    (tmp_path / "k").write_text(link_key()[0])
    keys, until = LinkKeys(tmp_path / "k"), now() + timedelta(hours=1)
    link = urlsplit(keys.link("token", "ä b?.txt", until))
    asked, path = dict(parse_qsl(link.query)), unquote(link.path)
    [key] = read_keys((tmp_path / "k").read_text())
    told = f"{asked['e']}{path} {key.secret}".encode()
    assert asked["s"] == urlsafe_b64encode(hashlib.md5(told, usedforsecurity=False).digest()).decode().rstrip("=")
    assert keys.holds(path, asked, now()) and not keys.holds(path, asked, until + timedelta(seconds=1))
    for wrong in ({}, asked | {"e": "１"}, asked | {"s": "ä"}, asked | {"k": ""}, asked | {"e": "9" * 13}):
        assert not keys.holds(path, wrong, now())
    assert key.secret not in repr(key)


def test_where_there_is_no_room_there_is_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "a").write_bytes(b"x")
    with (tmp_path / "a").open("rb") as file:
        opened = Opened(file.fileno(), 1, 1)
        monkeypatch.setattr("services.agent.downloads.spool.ROOM", 1 << 60)
        assert not Spool(tmp_path / "spool").put(fresh_id(), opened)
        monkeypatch.setattr("services.agent.downloads.spool.ROOM", 0)
        shrunk = Opened(file.fileno(), 9_000, 1)
        assert not Spool(tmp_path / "spool").put(fresh_id(), shrunk), "what has shrunk meanwhile is no whole copy"
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_rotation_keeps_the_key_before() -> None:
    first = link_key()[0]
    second = rotated(first)
    third = rotated(second)
    assert second.endswith(first) and first not in third and len(third.splitlines()) == KEPT
    text = render_links(third, "www-data")
    assert text.startswith("# user www-data\n") and all(each.secret in text for each in read_keys(third))


def test_a_copy_is_of_this_version_and_told_apart_from_the_one_before(tmp_path: Path) -> None:
    spool, found, file = Spool(tmp_path / "spool"), fresh_id(), tmp_path / "a"
    assert not spool.put(found, Opened(0, 1, 1)), "without its folder there are no copies"
    (tmp_path / "spool").mkdir()
    copy = tmp_path / "spool" / str(found)
    seen: set[int] = set()
    for content in (b"first", b"other", b"third"):
        file.write_bytes(content)
        os.utime(file, ns=(0, 1_700_000_000_000_000_000 + len(seen)))
        descriptor = os.open(file, os.O_RDONLY)
        facts = os.fstat(descriptor)
        opened = Opened(descriptor, facts.st_size, facts.st_mtime_ns, facts.st_ino)
        assert spool.put(found, opened) and spool.put(found, opened)
        os.close(descriptor)
        assert copy.read_bytes() == content and copy.stat().st_mode & 0o777 == 0o640
        seen.add(copy.stat().st_mtime_ns // 10**9)
    assert len(seen) == 3, "to the second, for nginx looks at no more"
    assert spool.names() == [found]
    copy.chmod(0o644)
    spool.clear()
    assert spool.names() == [], "what others could read goes"
