"""The hunt for planted values knows every way of writing one down, and half of one."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest

from tests.factories.leaks import MARKS, found_in

VALUE = f"{MARKS[0]}0123456789abcdef{MARKS[1]}0123456789abcdef"


@pytest.mark.parametrize("before", range(4))
def test_a_value_is_found_however_it_was_written(before: int) -> None:
    raw = b"u:7"[:before] + VALUE.encode()
    written = [
        VALUE, raw.decode(), repr(VALUE), json.dumps(VALUE), quote(VALUE), quote(VALUE, safe=""), quote_plus(VALUE), raw.hex(), raw.hex().upper(),
        base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw + b"more").decode(), base64.b64encode(raw).hex(),
    ]  # fmt: skip
    for each in written:
        assert found_in([f"before{each}after"]), each


def test_half_a_value_is_found_wherever_it_was_split() -> None:
    for at in range(1, len(VALUE)):
        assert found_in([VALUE[:at]]) or found_in([VALUE[at:]]), at


def test_other_texts_are_not_taken_for_one() -> None:
    assert found_in(["a log line", "f" * 1000, base64.b64encode(bytes(1000)).decode()]) == []
