"""Searching entries by words or by an id, the same wherever entries are kept."""

import re

_ID = re.compile(r"[0-9a-f]{8,64}")


def words_or_id(q: str, place: str) -> str:
    """A condition over `words, hash, call_id, entry_id, trace_id`; `place` is the parameter that holds `q`.

    strpos, not LIKE: a percent sign is a percent sign. Ids and hashes are found by their whole or their first eight digits.
    """
    found = f"strpos(words, {place}) > 0"
    digits = q.lower().replace("-", "").replace(" ", "")
    if not _ID.fullmatch(digits):
        return found
    found += f" OR (hash >= '{digits}' AND hash < '{digits}g')"
    if len(digits) == 32:
        found += f" OR call_id = '{digits}'::uuid OR entry_id = '{digits}'::uuid OR (trace_id = '{digits}' AND trace_id <> '')"
    return found
