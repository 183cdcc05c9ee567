"""One spelling for each language tag."""

import pytest

from schemas.language import spelled


@pytest.mark.parametrize(
    ("tag", "one"),
    [
        ("DE", "de"),
        ("pt-br", "pt-BR"),
        ("ZH-hant-tw", "zh-Hant-TW"),
        ("de-ch-1996", "de-CH-1996"),
        ("X-KLINGON", "x-klingon"),
        ("en-x-US", "en-x-us"),
    ],
)
def test_a_tag_has_one_spelling(tag: str, one: str) -> None:
    assert spelled(tag) == one
    assert spelled(one) == one
