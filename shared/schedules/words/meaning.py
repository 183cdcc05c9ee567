"""What was said, seen from one zone and instant: times of day, dates, and what is refused. Once and recurring rules are made of it."""

import calendar
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from shared.schedules.words.domain import Clock, Day, NotUnderstood, Part, Said
from shared.schedules.words.line import Line

DEFAULT, CLEANUP = time(9), time(3)
PART_TIMES: dict[Part, time] = {"morning": time(9), "noon": time(12), "afternoon": time(15), "evening": time(18)}
"""A part of a day without a time."""
SECONDS = {"second": 1, "minute": 60, "hour": 3600}
HOURS: dict[Part, dict[int, int]] = {
    "am": {hour: hour % 12 for hour in range(1, 13)},
    "pm": {hour: hour % 12 + 12 for hour in range(1, 13)},
    "morning": {hour: hour for hour in range(1, 12)},
    "noon": {11: 11, 12: 12, 1: 13, 2: 14, 13: 13, 14: 14},
    "afternoon": {hour: hour % 12 + 12 for hour in (12, 1, 2, 3, 4, 5, 6)} | {hour: hour for hour in range(12, 19)},
    "evening": {hour: hour + 12 for hour in range(4, 12)} | {hour: hour for hour in range(16, 24)},
    "night": {hour: hour for hour in range(6)}
    | {12: 0}
    | {hour: hour + 12 for hour in range(8, 12)}
    | {hour: hour for hour in range(20, 24)},
}
"""Which hour is meant, by part of the day and hour as it was said."""


def wrong(line: Line, en: str, de: str, hint_en: str, hint_de: str) -> NotUnderstood:
    return NotUnderstood(line.say(en, de), line.say(hint_en, hint_de))


class Meaning:
    """One reading of one text. `now`: the wall clock in the zone."""

    def __init__(self, line: Line, said: Said, zone: str, at: datetime) -> None:
        self.line, self.said, self.zone, self.at = line, said, zone, at.astimezone(UTC)
        self.now = at.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)
        self.notes: list[str] = []

    def times(self) -> tuple[time, ...]:
        """Sorted; 09:00 when none is said, 03:00 for a cleanup, or what the part of the day stands for."""
        said = self.said
        if said.window:
            raise wrong(self.line, "How often between these times is not said.", "Wie oft zwischen diesen Zeiten, ist nicht gesagt.", "Say “every hour between 9 and 17”.", "Sage „jede Stunde zwischen 9 und 17 Uhr“.")  # fmt: skip
        if said.clocks:
            return tuple(sorted({self.clock(each) for each in said.clocks}))
        if said.part:
            return (self._part_time(said.part),)
        return (CLEANUP if said.cleanup else DEFAULT,)

    def clock(self, clock: Clock) -> time:
        part = clock.part or self.said.part
        if part is None or (clock.time == time(0) and not clock.bare and part in ("evening", "night")):
            return clock.time
        hour = HOURS[part].get(clock.time.hour)
        if part in ("am", "pm") and not clock.bare:
            hour = clock.time.hour if (part == "pm") == (clock.time.hour >= 12) and clock.time.hour else None
        if hour is None:
            shown = clock.time.strftime("%H:%M")
            raise wrong(self.line, f"{shown} does not go with that part of the day.", f"{shown} passt nicht zu dieser Tageszeit.", "Say it as on a 24-hour clock, such as 19:30.", "Sage es mit 24 Stunden, etwa 19:30 Uhr.")  # fmt: skip
        return clock.time.replace(hour=hour)

    def whose_night(self, at: time) -> None:
        """“Friday night at 1” is Saturday to most and Friday to some; “tonight at 1” and “every night at 1” are clear."""
        said = self.said
        named = said.weekdays or said.days or said.date or said.ahead or said.coming
        if said.part == "night" and named and at < time(6):
            raise wrong(self.line, "In that night it can be before that day or after it.", "In dieser Nacht kann das vor dem Tag sein oder nach ihm.", f"Say the day that it is by then, such as “on Saturday at {at.hour}:{at.minute:02}”.", f"Sage den Tag, der es dann ist, etwa „am Samstag um {at.hour}:{at.minute:02} Uhr“.")  # fmt: skip

    def _part_time(self, part: Part) -> time:
        if part not in PART_TIMES:
            raise wrong(self.line, "At night is no time.", "Nachts ist keine Uhrzeit.", "Say when, such as 23:00 or 2:00.", "Sage, wann, etwa 23:00 oder 2:00 Uhr.")  # fmt: skip
        found = PART_TIMES[part]
        if found != DEFAULT:
            self.note(
                f"No time was said: it is {found:%H:%M}.", f"Es ist keine Uhrzeit genannt: Es ist {found:%H:%M} Uhr."
            )
        return found

    def note(self, en: str, de: str) -> None:
        self.notes.append(self.line.say(en, de))

    def moved(self, day: date, number: int, unit: str) -> date:
        """So many units on; a missing day of a month is its last (rule 7)."""
        try:
            if unit in ("day", "week"):
                return day + timedelta(days=number * (7 if unit == "week" else 1))
            months = day.year * 12 + day.month - 1 + number * (12 if unit == "year" else 1)
            year, month = divmod(months, 12)
            return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
        except (OverflowError, ValueError, calendar.IllegalMonthError):
            raise self.too_far() from None

    def too_far(self) -> NotUnderstood:
        return wrong(self.line, "That is too far away.", "Das ist zu weit weg.", "Schedules reach some years ahead.", "Zeitpläne reichen einige Jahre voraus.")  # fmt: skip

    def past(self, found: datetime | None) -> NotUnderstood:
        shown = f"{found:%Y-%m-%d %H:%M}" if found else self.line.say("That day", "Dieser Tag")
        now = f"{self.now:%Y-%m-%d %H:%M}"
        return wrong(self.line, f"{shown} is past; it is {now} in {self.zone}.", f"{shown} ist vorbei; in {self.zone} ist es {now}.", "Say a time to come, such as “tomorrow at 8”.", "Sage eine Zeit, die noch kommt, etwa „morgen um 8“.")  # fmt: skip

    def contradiction(self) -> NotUnderstood:
        return wrong(self.line, "That contradicts itself.", "Das widerspricht sich.", "Name one day, such as “tomorrow at 8” or “on Friday at 8”.", "Nenne einen Tag, etwa „morgen um 8“ oder „am Freitag um 8“.")  # fmt: skip

    def resolve(self, day: Day, after: datetime, at: time = time.max) -> date:
        """The date; of the year said, else the first one to come that has it."""
        for year in [day.year] if day.year else range(after.year, after.year + 9):
            longest = calendar.monthrange(year, day.month)[1]
            if day.day > longest:
                continue
            found = date(year, day.month, longest if day.day == -1 else day.day)
            if day.year or datetime.combine(found, at) > after:
                return found
        raise self.past(None)

    def span(self, unit: str, steps: int) -> tuple[date, int]:
        """The first day of this or a coming week, month or year, and how many days it has."""
        today = self.now.date()
        if unit == "week":
            return today - timedelta(days=today.weekday()) + timedelta(weeks=steps), 7
        if unit == "month":
            begin = self.moved(today.replace(day=1), steps, "month")
            return begin, calendar.monthrange(begin.year, begin.month)[1]
        return date(today.year + steps, 1, 1), 366


def from_months(day: date, months: tuple[int, ...]) -> date:
    """That day where it is in one of these months, else the first day of the next of them."""
    while day.month not in months:
        day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    return day


def fits(said: Said, day: date) -> bool:
    """Whether a day is one of those named: by weekday, day of the month, or both as the first Monday."""
    longest = calendar.monthrange(day.year, day.month)[1]
    if said.month and day.month != said.month:
        return False
    if said.days and day.day not in {longest if each == -1 else each for each in said.days}:
        return False
    if said.weekdays and day.isoweekday() not in said.weekdays:
        return False
    if said.nth is None:
        return True
    alike = [each for each in range(1, longest + 1) if day.replace(day=each).isoweekday() in said.weekdays]
    place = said.nth - 1 if said.nth > 0 else said.nth
    return -len(alike) <= place < len(alike) and alike[place] == day.day


def bound_day(meaning: Meaning, bound: Said, at: time, after: date | None = None) -> date:
    """The one day that a beginning or an end names; the first such one from today, or from `after`."""
    base = max(after or meaning.now.date(), meaning.now.date())
    if bound.ahead is not None:
        return meaning.now.date() + timedelta(days=bound.ahead)
    if bound.coming and bound.coming[1] == "day":
        base = max(base, meaning.now.date() + timedelta(days=bound.coming[0]))
    elif bound.coming:
        steps, unit = bound.coming
        begin, days = meaning.span(unit, steps)
        return begin if after is None else begin + timedelta(days=days - 1)
    if bound.month and not bound.days:
        return meaning.resolve(Day(bound.month, 1), datetime.combine(base, time(0)) - timedelta(seconds=1))
    if bound.date:
        found = meaning.resolve(bound.date, datetime.combine(base, time(0)) - timedelta(seconds=1), time(0))
        if bound.weekdays and found.isoweekday() not in bound.weekdays:
            raise meaning.contradiction()
        return found
    if bound.clocks:
        return base
    first = next((day for day in (base + timedelta(days=step) for step in range(800)) if fits(bound, day)), None)
    if first is None:
        raise meaning.past(None)
    return first
