"""What needs no tool: a title and an extract of a text, by the words that carry it. The text is data; nothing in it is done."""

import re
from collections import Counter

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|$)")
_WORD = re.compile(r"[^\W\d_]{4,}")
MOST_SENTENCES = 2000
FIRST = 2.0
"""What the first sentence weighs more: it says what the text is about."""


def title(text: str, words: int = 6) -> str:
    """The first words of what was asked first."""
    line = " ".join(next((each for each in text.splitlines() if each.strip()), "").split()[:words])
    return line.strip(" \"'.,:;!?").removeprefix("#").strip()[:60] or "…"


def summary(text: str, most: int = 3) -> str:
    """Its `most` weightiest sentences in their own order, as they were written."""
    found = [" ".join(each.split()) for each in _SENTENCE.findall(text)[:MOST_SENTENCES]]
    sentences = [each for each in found if each]
    if len(sentences) <= most:
        return " ".join(sentences)
    weights = Counter(word.casefold() for each in sentences for word in _WORD.findall(each))

    def weight(sentence: str) -> float:
        words = [each.casefold() for each in _WORD.findall(sentence)]
        return sum(weights[each] for each in words) / (len(words) + 3)

    best = sorted(range(len(sentences)), key=lambda at: (-weight(sentences[at]) * (FIRST if at == 0 else 1), at))[:most]
    return " ".join(sentences[at] for at in sorted(best))
