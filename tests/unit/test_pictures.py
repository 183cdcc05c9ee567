"""A picture is a picture and nothing besides (S13): what was in its file with it does not come along."""

import pytest

from shared.attaching import prepare
from shared.attachments import check_names, fault_of_name
from shared.errors import Refused, TooLarge
from shared.imaging import made_anew, smaller_editions
from shared.pictures import NoPicture, check_picture
from tests.factories.pictures import HIDDEN, moving, picture, telling

KINDS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize("kind", KINDS)
def test_words_in_a_picture_are_refused_and_do_not_come_along(kind: str) -> None:
    raw = telling(kind)
    assert HIDDEN.encode() in raw
    with pytest.raises(NoPicture, match="may hold text"):
        check_picture(KINDS[kind], raw)
    made = made_anew(KINDS[kind], raw)
    assert HIDDEN.encode() not in made.raw
    assert check_picture(KINDS[kind], made.raw).width == 64


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_that_is_something_else_besides_is_refused(kind: str) -> None:
    clean = made_anew(KINDS[kind], picture(kind)).raw
    check_picture(KINDS[kind], clean)
    for more in (b"PK\x03\x04zip", b"<script>alert(1)</script>", b"\x00", b"%PDF-1.4"):
        with pytest.raises(NoPicture):
            check_picture(KINDS[kind], clean + more)
        with pytest.raises(NoPicture):
            check_picture(KINDS[kind], more + clean)
    for at in range(1, len(clean), max(1, len(clean) // 40)):
        with pytest.raises(NoPicture):
            check_picture(KINDS[kind], clean[:at])
    for other in set(KINDS.values()) - {KINDS[kind]}:
        with pytest.raises(NoPicture):
            check_picture(other, clean)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_a_moving_picture_goes_on_moving(kind: str) -> None:
    made = made_anew(KINDS[kind], moving(kind))
    check_picture(KINDS[kind], made.raw)
    assert smaller_editions(KINDS[kind], made.raw) == []


@pytest.mark.parametrize("raw", [SVG, b"", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0" + b"\xff" * 50])
def test_what_is_no_picture_is_refused(raw: bytes) -> None:
    for kind in KINDS.values():
        with pytest.raises(NoPicture):
            check_picture(kind, raw)
        with pytest.raises(Refused):
            made_anew(kind, raw)


def test_a_large_picture_gets_smaller_editions_and_the_words_of_the_text() -> None:
    found = prepare([("gate.png", picture(size=(1700, 900)))], "![The *gate* from above](img/gate.png)")
    assert [(each.name, each.width) for each in found.attachments] == [
        ("gate.png", 1700), ("gate.640w.webp", 640), ("gate.1280w.webp", 1280),
    ]  # fmt: skip
    assert {each.alt for each in found.attachments} == {"The gate from above"}
    assert all(len(found.data[each.hash]) == each.size for each in found.attachments)
    again = prepare([("gate.png", picture(size=(1700, 900)))], "![The *gate* from above](img/gate.png)")
    assert again.attachments == found.attachments, "the same picture again changes nothing"


def test_more_than_twenty_attachments_or_640_kib_are_refused() -> None:
    many = [(f"n{number}.txt", b"x%d" % number) for number in range(21)]
    with pytest.raises(Refused, match="at most 20"):
        prepare(many, "")
    assert len(prepare(many[:20], "").attachments) == 20
    with pytest.raises(TooLarge, match="640 KiB"):
        prepare([("long.txt", b"x" * (640 * 1024 + 1))], "")
    assert prepare([("long.txt", b"x" * 640 * 1024)], "").attachments[0].size == 640 * 1024


@pytest.mark.parametrize("name", ["a.svg", "a.html", "a.exe", "a", ".hidden.png", "a\u202etxt.png", "u\u0308.png", "a%2f.png", "x" * 200 + ".png"])  # fmt: skip
def test_names_that_are_none_are_refused(name: str) -> None:
    assert fault_of_name(name)


def test_a_name_stands_once_and_says_the_type() -> None:
    one = prepare([("a.txt", b"1")], "").attachments[0]
    assert not check_names([one])
    assert "two attachments" in check_names([one, one.model_copy(update={"name": "A.txt"})])
    assert "its name says" in check_names([one.model_copy(update={"media_type": "image/png"})])
