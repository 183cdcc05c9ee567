"""Names of time zones (rule 6): what may be kept, what to write instead, and the wall clock of one."""

import re
import zoneinfo
from datetime import datetime
from difflib import get_close_matches
from functools import lru_cache
from zoneinfo import ZoneInfo

from shared.errors import Refused
from shared.schedules.abbreviations import PLACES

LONGEST = 64
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+_-]*(/[A-Za-z0-9+_-]+){0,3}")
_OFFSET = re.compile(r"(?:UTC|GMT|Z)?\s*([+-−])\s*(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
_FIXED = re.compile(r"Etc/GMT([+-])(\d{1,2})")
_HALVES = {
    "+03:30": "Asia/Tehran", "+04:30": "Asia/Kabul", "+05:30": "Asia/Kolkata", "+05:45": "Asia/Kathmandu", "+06:30": "Asia/Yangon",
    "+08:45": "Australia/Eucla", "+09:30": "Australia/Darwin", "+10:30": "Australia/Lord_Howe", "+12:45": "Pacific/Chatham",
    "-03:30": "America/St_Johns", "-09:30": "Pacific/Marquesas",
}  # fmt: skip


class UnknownZone(Refused):
    """No IANA name; `hint` says what to write."""

    default_code = "unknown_zone"

    def __init__(self, name: str, hint: str) -> None:
        shown = "".join(char if char.isprintable() else "\ufffd" for char in name[:LONGEST])
        super().__init__(f"{shown or 'an empty text'} is no time zone; {hint}")
        self.hint = hint


@lru_cache(maxsize=1)
def known_zones() -> frozenset[str]:
    """Every IANA name, old ones too; without what stands for this machine's own zone, or for none. From the package `tzdata` where the system has no data."""
    return frozenset(zoneinfo.available_timezones()) - {"localtime", "Factory", "posixrules"}


def is_zone(name: str) -> bool:
    return len(name) <= LONGEST and _NAME.fullmatch(name) is not None and name in known_zones()


def check_zone(name: str) -> str:
    """The name as it is. Raises UnknownZone with what to write instead: an abbreviation or an offset is never taken for a zone, nor replaced without a word."""
    if is_zone(name):
        return name
    raise UnknownZone(name, _instead(name[:LONGEST].strip()))


def zone_of(name: str) -> ZoneInfo:
    """Raises UnknownZone."""
    return ZoneInfo(check_zone(name))


def wall(zone: str, at: datetime) -> datetime:
    """What the clock on the wall shows at that instant, without a zone. Raises UnknownZone."""
    return at.astimezone(zone_of(zone)).replace(tzinfo=None, fold=0)


def fixed_offset(name: str) -> str:
    """`UTC-3` for `Etc/GMT+3`, whose sign is the other way round; else empty."""
    found = _FIXED.fullmatch(name)
    if found is None or found[2] == "0":
        return ""
    return f"UTC{'-' if found[1] == '+' else '+'}{found[2]}"


def _instead(name: str) -> str:
    if places := PLACES.get(name.upper()):
        return f"an abbreviation stands for several clocks: write the place, such as {' or '.join(places)}"
    if offset := _OFFSET.fullmatch(name):
        return _for_offset("-" if offset[1] != "+" else "+", int(offset[2]), int(offset[3] or 0))
    if like := _like(name):
        return f"did you mean {' or '.join(like)}?"
    return "write a place as IANA names it, such as Europe/Berlin, America/New_York or UTC"


def _for_offset(sign: str, hours: int, minutes: int) -> str:
    if not hours and not minutes:
        return "write UTC"
    if place := _HALVES.get(f"{sign}{hours:02}:{minutes:02}"):
        return f"write the place, such as {place}"
    fixed = f"Etc/GMT{'-' if sign == '+' else '+'}{hours}"
    if minutes or not is_zone(fixed):
        return "there is no such zone: write a place as IANA names it, such as Europe/Berlin"
    return f"write the place, such as Europe/Berlin; {fixed} is always UTC{sign}{hours} (the sign in these names is the other way round)"


def _like(name: str) -> list[str]:
    """At most three names: of that spelling, of that place, or else close to it."""
    asked = re.sub(r"[\s_-]+", "_", name).casefold()
    folded = {each.casefold(): each for each in sorted(known_zones())}
    if asked in folded:
        return [folded[asked]]
    by_place: dict[str, list[str]] = {}
    for each in sorted(known_zones()):
        by_place.setdefault(each.rpartition("/")[2].casefold(), []).append(each)
    place = asked.rpartition("/")[2]
    if place in by_place:
        return by_place[place][:3]
    close = [folded[each] for each in get_close_matches(asked, folded, 2, 0.75)]
    return close or [by_place[each][0] for each in get_close_matches(place, by_place, 2, 0.75)]
