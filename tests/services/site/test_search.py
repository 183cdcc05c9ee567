"""The index alone: order, beginnings, spellings, and ten thousand pages."""

import random
import time
from uuid import uuid4

import pytest

from services.site.reading.search import SearchIndex, folded


def test_titles_weigh_more_and_rare_words_too() -> None:
    index = SearchIndex()
    in_title, in_text, never = uuid4(), uuid4(), uuid4()
    index.add(in_text, "Other", "the lighthouse stands. " + "filler " * 50)
    index.add(in_title, "Lighthouse", "filler " * 50)
    index.add(never, "None", "filler " * 50)
    total, hits = index.find("lighthouse")
    assert (total, [hit.item_id for hit in hits]) == (2, [in_title, in_text])


def test_every_word_must_be_there() -> None:
    index = SearchIndex()
    both = uuid4()
    index.add(both, "a", "red boat")
    index.add(uuid4(), "b", "red house")
    assert [hit.item_id for hit in index.find("boat red")[1]] == [both]
    assert index.find("red car") == (0, [])


@pytest.mark.parametrize(
    ("word", "spellings"), [("Straße", {"strasse"}), ("Über", {"uber", "ueber"}), ("ÉTÉ", {"ete"})]
)
def test_spellings(word: str, spellings: set[str]) -> None:
    assert set(folded(word)) == spellings


def test_a_word_of_the_query_may_be_written_either_way() -> None:
    index = SearchIndex()
    index.add(uuid4(), "x", "Größe übt Maß")
    for query in ("größe", "groesse", "grosse", "GRÖSSE", "uebt", "ubt", "mass", "maß"):
        assert index.find(query)[0] == 1, query


def test_snippets_show_the_word_and_no_query_breaks_them() -> None:
    index = SearchIndex()
    index.add(uuid4(), "x", "filler " * 100 + "the Schlüsselwort is here " + "filler " * 100)
    (hit,) = index.find("schlüsselw")[1]
    assert "Schlüsselwort" in hit.snippet
    assert len(hit.snippet) < 240
    for query in ("", "  ", "***", "a" * 1000, "(((", "\\", "x" * 5 + "\u0130"):
        index.find(query)


def test_what_is_removed_is_not_found_and_room_is_given_back() -> None:
    index = SearchIndex()
    kept = uuid4()
    index.add(kept, "kept", "alpha")
    for _ in range(3000):
        item = uuid4()
        index.add(item, "gone", "alpha beta")
        index.remove(item)
    assert [hit.item_id for hit in index.find("alpha")[1]] == [kept]
    assert index.find("beta") == (0, [])
    assert index._next < 1100


def test_ten_thousand_pages_answer_quickly() -> None:
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnop", k=7)) for _ in range(20_000)]
    index = SearchIndex()
    for number in range(10_000):
        index.add(uuid4(), f"Page {number}", " ".join(chance.choices(words, k=30)))
    index.find("page")
    began = time.process_time()
    for _ in range(20):
        assert index.find(words[0][:3])[0] > 0
        assert index.find("page 99")[0] > 0
    assert (time.process_time() - began) / 40 < 0.1
