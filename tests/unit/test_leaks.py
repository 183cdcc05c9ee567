"""Internal values in altered spellings, and what is too weak or too common to be one. No database: how values and texts are spelled out (S14)."""

import csv
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from shared.leaks.marks import bits, mark, marks
from shared.leaks.words import readings, runs
from tests.factories.documents import real_input

KEY = bytes(range(32))
VALUES = (
    "Alfreds Futterkiste",
    "Müller & Söhne Großhandel",
    "Frédérique Citeaux",
    "Blauer See Delikatessen",
    "030-0074321",
    "(5) 555-4729",
    "DE89 3704 0044 0532 0130 00",
    "Dominique Perrier",
    "Ærøskøbing Åkirkeby 12",
    "Obere Str. 57",
)
CYRILLIC = str.maketrans("aeopcxABEMOT", "аеорсхАВЕМОТ")
SPELLED: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "capitals": str.upper,
    "small letters": str.lower,
    "entities": lambda value: "".join(f"&#{ord(char)};" for char in value),
    "hexadecimal entities": lambda value: "".join(f"&#x{ord(char):x};" if char.isalnum() else char for char in value),
    "other spaces": lambda value: value.replace(" ", " \u00a0\t"),
    "over two lines": lambda value: value.replace(" ", "\n> "),
    "no spaces": lambda value: value.replace(" ", ""),
    "digits in groups": lambda value: re.sub(r"\d{2}(?=\d)", lambda found: found[0] + "\u202f", value),
    "digits with dots": lambda value: re.sub(r"\d{3}(?=\d)", lambda found: found[0] + ".", value),
    "unseen characters": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "look-alike letters": lambda value: value.translate(CYRILLIC),
    "full width": lambda value: "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in value),
    "umlauts in two letters": lambda value: (
        value.replace("ü", "ue").replace("ö", "oe").replace("ß", "ss").replace("Å", "Aa")
    ),
    "no accents": lambda value: value.replace("ü", "u").replace("ö", "o").replace("é", "e"),
    "tags within": lambda value: f"{value[:7]}<b>{value[7:9]}</b>{value[9:]}",
    "a comment within": lambda value: f"{value[:7]}<!-- x -->{value[7:]}",
    "emphasis within": lambda value: f"{value[:7]}**{value[7:]}",
    "a link within": lambda value: value.replace(" ", "](https://example.org/a(b)c) ", 1).join(("[", "")),
    "in an address": lambda value: f"https://example.org/?q={quote(value)}",
    "letter by letter": " ".join,
    "in brackets": lambda value: f"({value})",
}


def found(text: str, *values: str) -> set[int]:
    """The lines in which one of the values stands."""
    known = frozenset[bytes]().union(*(marks(KEY, value) for value in values))
    return {
        spelled.line_of(first)
        for spelled in readings(text)
        for first, _, run in runs(spelled)
        if mark(KEY, run) in known
    }


@pytest.mark.parametrize("how", SPELLED)
def test_a_value_is_found_however_it_is_spelled(how: str) -> None:
    for value in VALUES:
        altered = SPELLED[how](value)
        assert found(f"# Heading\n\nSome words before {altered} and more.\n", value), (value, altered)


def test_the_line_is_the_texts_own() -> None:
    text = "# One\n\n<p\nclass='x'>\nwords\n\nAl<b>fr</b>eds   FUTTERKISTE\n"
    assert found(text, "Alfreds Futterkiste") == {7}


def test_a_part_of_a_long_text_is_found() -> None:
    note = " ".join(f"hydrant{number} behind the chapel" for number in range(20))
    assert found("He said: hydrant7 behind the CHAPEL, hydrant8 behind the chapel!", note)
    assert not found("He said something behind the chapel, a hydrant", note)


@pytest.mark.parametrize(
    "value",
    [
        "1234",
        "12209",
        "Berlin",
        "no",
        "9.80",
        "2024",
        "00000000000000",
        "1234567890",
        "abcabcabcabc",
        "12345678",
        "true",
        "",
    ],
)
def test_what_can_be_guessed_has_no_fingerprint(value: str) -> None:
    assert marks(KEY, value) == frozenset()


def test_values_under_32_bits_have_no_fingerprint() -> None:
    rng = random.Random(3)
    for _ in range(2000):
        value = "".join(rng.choices("0123456789", k=rng.randint(1, 9)))
        assert bits(value) < 32 and not marks(KEY, value)


@pytest.mark.parametrize(
    "value", ["Germany", "Customer", "Marketing", "Special offer", "Kundennummer", "Österreich", "United States"]
)
def test_common_words_have_no_fingerprint(value: str) -> None:
    assert marks(KEY, value) == frozenset()


def test_words_that_only_share_a_part_are_not_found() -> None:
    assert not found("Alfreds Futter und Kiste, und Alfred Futterkisten", "Alfreds Futterkiste")
    assert not found("call 030-00743210 or 1030-0074321", "030-0074321")


def test_another_key_makes_other_marks() -> None:
    assert marks(KEY, VALUES[0]) != marks(bytes(32), VALUES[0])


def northwind(folder: Path) -> Iterator[str]:
    """All texts of the example CRM that can be told (dates and flags never are)."""
    csv.field_size_limit(10**7)
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                for name, value in row.items():
                    if name and isinstance(value, str) and not re.match(r"\d{4}-\d\d-\d\d 00:|0x|NULL$", value):
                        yield value


def test_real_documents_raise_few_false_alarms_and_planted_values_are_found() -> None:
    data = real_input()
    known = {each: value for value in northwind(data / "crm") for each in marks(KEY, value)}
    documents = [path.read_text("utf-8") for path in sorted((data / "docs").glob("*/**/*.md"))]
    flagged = sum(
        any(mark(KEY, run) in known for each in readings(text) for _, _, run in runs(each)) for text in documents
    )
    assert len(documents) == 120 and flagged <= 6
    rng, how = random.Random(5), list(SPELLED)
    planted = [(value, rng.choice(how)) for value in rng.sample(sorted(set(known.values())), 200)]
    missed = [each for each in planted if not found(f"Words {SPELLED[each[1]](each[0])} words", each[0])]
    assert len(missed) <= 2, missed
