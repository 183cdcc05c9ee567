"""What people read: folded where everything came out alike, in full where it did not."""

import pytest

from infra.prove.check import Book
from infra.prove.report import show


def shown(capsys: pytest.CaptureFixture[str], book: Book, *, every: bool = False) -> str:
    show(book.checks, 1.0, every=every)
    return capsys.readouterr().out


def test_what_came_out_alike_shares_a_line_and_what_did_not_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    book = Book("bus")
    for subject in ("a", "b", "c"):
        book.outcome("site", f"publish: {subject}", {"got": "refused"})
    book.outcome("site", "publish: d", {"got": "done", "detail": "allowed"})
    book.outcome("site", "publish: e", {"got": "error", "detail": "no connection"})
    book.open("OS user", "read: key")
    text = shown(capsys, book)
    assert "publish (3 attempts)" in text
    assert "publish: d" in text and "done: allowed" in text
    assert "publish: e" in text and "FAILED" in text
    assert "6 checks, 3 as expected, 2 failed, 1 open" in text
    assert "publish: b" in shown(capsys, book, every=True)


def test_what_was_examined_may_hold_anything(capsys: pytest.CaptureFixture[str]) -> None:
    book = Book("files")
    book.same("console", "process [bold]: where", "x" * 200, "x" * 200)
    book.same("console", "[/] closing", ["a"], ["[b]"])
    text = shown(capsys, book)
    assert "[bold]" in text and "[/] closing" in text
    assert "…" in text
