"""Rule 18: how a lesson and a query are split into words, and what is found by them. No database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent.lessons.index import Index
from services.agent.lessons.splitting import asked, words


def found(query: str, *lessons: str) -> list[int]:
    """Lessons are numbered from 1."""
    index = Index(None, {at: words(each) for at, each in enumerate(lessons, 1)})
    return [each.lesson_id for each in index.search(asked(query), 10)]


@pytest.mark.parametrize(
    ("query", "lesson"),
    [
        ("running", "It runs every night"),
        ("backup", "BACKUPS must rotate"),
        ("Rechnung", "Die Rechnungen gehen an die Buchhaltung"),
        ("Uebung", "Übungen am Morgen"),
        ("Übung", "UEBUNGEN am Morgen"),
        ("U\u0308bung", "Übung macht den Meister"),
        ("strasse", "In der Straße"),
        ("STRASSE", "straße"),
        ("Häuser", "Das Haus ist alt"),
        ("oeffnen", "Bitte öffnen"),
        ("file", "ﬁles are kept"),
        ("nginx", "ｎｇｉｎｘ was restarted"),
        ("备份", "数据库备份每天凌晨执行"),
        ("备", "数据库备份每天凌晨执行"),
        ("バックアップ", "毎日バックアップを取る"),
        ("ﾊﾞｯｸｱｯﾌﾟ", "毎日バックアップを取る"),
        ("백업", "데이터베이스백업은매일"),
        ("nginx 重启", "部署后重启 nginx"),
        ("重启", "nginx重启"),
        ("don't", "Don’t do it"),
        ("قاعدة", "قاعدة البيانات"),
        ("ежедневно", "Копии ЕЖЕДНЕВНО"),
        ("v2", "Release v2 was late"),
    ],
)
def test_le_03_a_lesson_is_found(query: str, lesson: str) -> None:
    """LE-03 and rule 18."""
    assert found(query, "something else entirely", lesson) == [2]


@pytest.mark.parametrize(
    ("lessons", "query"),
    [([], "backup"), (["?!… — 。、"], "backup"), (["?!…"], "?!…"), (["the and of"], "backup"), (["backup"], ""), (["backup"], " \n\t"), (["", ""], "x"), (["backup"], "🙂")],
)  # fmt: skip
def test_le_01_what_has_no_words_finds_nothing_and_is_no_error(lessons: list[str], query: str) -> None:
    """LE-01."""
    assert found(query, *lessons) == []


def test_le_01_a_query_of_stop_words_only_still_searches() -> None:
    """LE-01, rule 18; beside a telling word stop words count nothing."""
    assert found("the and", "the and of") == [1]
    assert found("über und", "ueber und von") == [1]
    assert found("the backup", "the and of", "backup") == [2]


def test_the_better_match_comes_first_and_of_equals_the_newest() -> None:
    assert found("disk full", "the disk", "the disk is full", "a full moon")[0] == 2
    assert found("disk", "disk one", "disk two") == [2, 1]


@given(st.lists(st.text(max_size=60), max_size=6), st.text(max_size=40))
def test_every_text_can_be_split_and_looked_for(lessons: list[str], query: str) -> None:
    assert all(" " not in word and word[1] == ":" for each in lessons for word in words(each))
    assert set(found(query, *lessons)) <= set(range(1, len(lessons) + 1))


@given(st.text(max_size=60))
def test_a_lesson_finds_itself(text: str) -> None:
    assert found(text, text) == ([1] if words(text) else [])
