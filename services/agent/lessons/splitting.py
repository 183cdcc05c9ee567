"""From text to the words that a lesson is found by (rule 18). The index and the query are split by these same lines.

NFKC, case-folded, umlauts as ae, oe, ue (ss comes of case folding). Each word counts twice: by its German and by its English stem, so that
neither language must be guessed. Chinese, Japanese and Korean, written without blanks, count as pairs of neighbours.
"""

import re
import unicodedata
from collections.abc import Iterator

import Stemmer

SPLITTING = 1
"""Goes up when these lines split otherwise than before: lessons split by an earlier number are split anew."""
LONGEST = 64
"""Characters of a word that count."""
_CJK = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’][^\W_{_CJK}]+)*")
_PAIRED = re.compile(rf"[{_CJK}]")
_UMLAUTS = {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue", ord("’"): "'"}
_german, _english = Stemmer.Stemmer("german"), Stemmer.Stemmer("english")
_STOP = (
    "a about all am an and any are as at be been but by can could did do does for from had has have he her his how i if in into is it its me my no not of on"
    " or our out she so some than that the their them then there these they this to too up us was we were what when where which who why will with would you your"
    " aber alle als am an auch auf aus bei bin bis da damit dann das dass dein dem den der des die dies diese dir doch du durch ein eine einem einen einer eines"
    " er es fuer hat hatte ich ihr im in ist ja jede kann kein keine mein mich mir mit nach nicht noch nur oder sein sich sie sind so ueber um und uns unser vom"
    " von vor war was wenn wer werden wie wir wird wo zu zum zur"
)
STOP = frozenset(_STOP.split())


def words(text: str) -> list[str]:
    """Its words in order, each with its mark: `d:` and `e:` for the two stems, `c:` for a pair."""
    return [mark for run in _runs(text) for mark in _marks(run)]


def asked(text: str) -> list[str]:
    """The words of a query, each once: without stop words, unless there are no others (rule 18)."""
    runs = list(_runs(text))
    telling = [each for each in runs if each not in STOP] or runs
    return list(dict.fromkeys(mark for run in telling for mark in _marks(run)))


def _runs(text: str) -> Iterator[str]:
    """Folded twice: what case folding brings may need composing again."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).translate(_UMLAUTS)
    for found in _RUN.finditer(folded):
        yield found.group()


def _marks(run: str) -> Iterator[str]:
    if _PAIRED.match(run):
        yield from (f"c:{run[at : at + 2]}" for at in range(max(1, len(run) - 1)))
        return
    run = run[:LONGEST]
    yield f"d:{_german.stemWord(run)}"
    yield f"e:{_english.stemWord(run)}"
