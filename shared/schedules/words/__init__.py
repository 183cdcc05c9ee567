"""English and German to a schedule (rule 7a), by a small grammar of our own (decision 0038).

line.py          a text as tokens              vocabulary.py, language.py   its words
reading.py       tokens to what was said, by clocks.py and spoken.py (times), days.py and dates.py (days),
                 repeats.py (what repeats, how far ahead), bounds.py (from when till when)
composing.py     what was said to a rule: meaning.py, once.py, recurring.py
understanding.py the whole way, with its checks; correcting.py: "no, at 8"; finding.py: where in a sentence a schedule stands
describing.py    a rule to words
"""

from shared.schedules.words.composing import recurs
from shared.schedules.words.correcting import corrects, opened
from shared.schedules.words.describing import describe
from shared.schedules.words.domain import NotUnderstood
from shared.schedules.words.finding import find_schedule
from shared.schedules.words.understanding import understand

__all__ = ["NotUnderstood", "corrects", "describe", "find_schedule", "opened", "recurs", "understand"]
