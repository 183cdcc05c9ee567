"""Something that comes again: intervals of elapsed time, and days of the calendar at times of the wall clock."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from shared.schedules.days import days_from
from shared.schedules.domain import LONGEST, SHORTEST, Interval, Wall
from shared.schedules.words.domain import WEEKEND, WORKDAYS, NotUnderstood, Said
from shared.schedules.words.meaning import SECONDS, Meaning, bound_day, fits, from_months, wrong

MOST_TIMES = 24
_EVERY_DAY = (1, 2, 3, 4, 5, 6, 7)


class IntervalMeaning(Meaning):
    """Every so many seconds, minutes or hours."""

    def rule(self) -> Interval | Wall:
        said = self.said
        number, unit = said.every or (0, "second")
        seconds = number * SECONDS[unit]
        if seconds < SHORTEST or seconds > LONGEST or seconds != int(seconds):
            raise wrong(self.line, "Such an interval is not kept.", "Einen solchen Abstand gibt es nicht.", f"The shortest is {SHORTEST} seconds (every minute), the longest 366 days, in whole seconds.", f"Der kürzeste sind {SHORTEST} Sekunden (jede Minute), der längste 366 Tage, in ganzen Sekunden.")  # fmt: skip
        if said.window:
            return self._in_window(int(seconds))
        if said.full:
            return self._full_hours()
        if (
            said.weekdays
            or said.days
            or said.date
            or said.month
            or said.part
            or said.nth
            or said.until
            or said.lasting
            or said.ahead is not None
            or said.coming
        ):
            raise self._days_of_it(int(seconds))
        if said.clocks:
            raise wrong(self.line, "An interval counts on; it has no time of day.", "Ein Abstand zählt weiter und hat keine Uhrzeit.", "Say “every 2 hours starting at 8”, or name the times: “every day at 8, 10 and 12”.", "Sage „alle 2 Stunden ab 8 Uhr“, oder nenne die Zeiten: „täglich um 8, 10 und 12 Uhr“.")  # fmt: skip
        return Interval(seconds=int(seconds), start=self._start(int(seconds)))

    def _start(self, seconds: int) -> datetime:
        """It first fires one interval from now, or at the time it begins with."""
        if self.said.start is None:
            return self.at.replace(microsecond=0)
        bound = self.said.start
        at = self.clock(bound.clocks[0]) if bound.clocks else time(0)
        if bound.date or bound.ahead is not None or bound.weekdays:
            first = datetime.combine(bound_day(self, bound, at), at)
        else:
            first = datetime.combine(self.now.date(), at)
            first += timedelta(days=first <= self.now)
        return first.replace(tzinfo=ZoneInfo(self.zone)).astimezone(UTC) - timedelta(seconds=seconds)

    def _days_of_it(self, seconds: int) -> NotUnderstood:
        hint_en, hint_de = (
            "Say “every hour between 9 and 17 on weekdays”",
            "Sage „werktags jede Stunde zwischen 9 und 17 Uhr“",
        )
        if seconds < 3600 and 3600 % seconds == 0 and self.said.weekdays and not (self.said.until or self.said.nth):
            days = ",".join(str(day % 7) for day in self.said.weekdays)
            hint_en += f", or as cron: */{seconds // 60} * * * {days}"
            hint_de += f", oder als cron: */{seconds // 60} * * * {days}"
        return wrong(self.line, "An interval counts on, on every day.", "Ein Abstand zählt an jedem Tag weiter.", hint_en + ".", hint_de + ".")  # fmt: skip

    def _in_window(self, seconds: int) -> Wall:
        """Every half hour between 9 and 17: those times of each day, the last one too."""
        first, last = (self.clock(each) for each in self.said.window or ())
        minutes = [each.hour * 60 + each.minute for each in (first, last)]
        step = seconds // 60
        found = list(range(minutes[0], minutes[1] + 1, step)) if seconds % 60 == 0 else []
        if not found or len(found) > MOST_TIMES or minutes[0] >= minutes[1]:
            raise wrong(self.line, "That makes no list of at most 24 times a day.", "Das ergibt keine Liste von höchstens 24 Uhrzeiten am Tag.", "Say “every hour between 9 and 17”, or as cron: */15 9-16 * * *.", "Sage „jede Stunde zwischen 9 und 17 Uhr“, oder als cron: */15 9-16 * * *.")  # fmt: skip
        return self._on_days(tuple(time(each // 60, each % 60) for each in found))

    def _full_hours(self) -> Wall:
        return self._on_days(tuple(time(hour) for hour in range(24)))

    def _on_days(self, times: tuple[time, ...]) -> Wall:
        self.said.every, self.said.window, self.said.full, self.said.clocks = None, None, False, []
        self.said.recurring = True
        if not (self.said.weekdays or self.said.days):
            self.said.every = (1, "day")
        return WallMeaning(self.line, self.said, self.zone, self.at).rule(times)


class WallMeaning(Meaning):
    """Days of a calendar."""

    def rule(self, times: tuple[time, ...] | None = None) -> Wall:
        said = self.said
        if said.ahead is not None or said.coming or said.instant:
            raise self.contradiction()
        if len(said.weekdays) > 1 and not (
            said.recurring or said.habit or said.every or said.nth or said.until or said.start
        ):
            self._several()
        if said.start and said.start.clocks:
            # “every day starting at 8”: there the beginning is a time of day
            said.clocks, said.start = [*said.clocks, *said.start.clocks], None
        times = times or self.times()
        self.whose_night(times[0])
        every, unit = self._every()
        what = self._days(unit)
        start = self._first(what, every, times)
        return Wall(unit=what.pop("unit"), times=times, every=every, start=start, until=self._until(start), **what)

    def _several(self) -> None:
        """A list of days without "every" can only be each week; a weekend or a weekday can be the coming one."""
        if self.said.weekdays in (WEEKEND, WORKDAYS):
            raise wrong(self.line, "It is not said whether that is every week.", "Es ist nicht gesagt, ob das jede Woche ist.", "Say “every weekend”, “every weekday”, or name one day.", "Sage „jedes Wochenende“, „jeden Werktag“, oder nenne einen Tag.")  # fmt: skip
        self.note(
            "Several days are named: they come every week.", "Es sind mehrere Tage genannt: Sie kommen jede Woche."
        )

    def _every(self) -> tuple[int, str]:
        number, unit = self.said.every or (1, "")
        if number != int(number) or not 1 <= number <= 1000:
            raise wrong(self.line, "Such an interval is not kept.", "Einen solchen Abstand gibt es nicht.", "Say whole days, weeks, months or years, up to 1000, or “every 36 hours”.", "Sage ganze Tage, Wochen, Monate oder Jahre, bis 1000, oder „alle 36 Stunden“.")  # fmt: skip
        if unit == "day" and self.said.weekdays and number % 7 == 0:
            return int(number) // 7, "week"
        return int(number), unit

    def _days(self, unit: str) -> dict[str, Any]:
        """`unit` with weekdays, days, nth, month as the rule has them."""
        said = self.said
        if said.date:
            return self._dated(unit)
        if said.without:
            return self._without(unit)
        if said.nth is not None or said.days:
            return self._of_months(unit)
        if said.month:
            raise wrong(self.line, "Which day of the month is not said.", "Welcher Tag des Monats, ist nicht gesagt.", "Say “every year on 15 January”.", "Sage „jedes Jahr am 15. Januar“.")  # fmt: skip
        if said.weekdays:
            return self._of_weeks(unit)
        return self._by_unit(unit)

    def _dated(self, unit: str) -> dict[str, Any]:
        said, day = self.said, self.said.date
        if unit not in ("", "year") or said.weekdays or said.days or day is None or day.year:
            raise wrong(self.line, "A date comes once a year.", "Ein Datum kommt einmal im Jahr.", "Say “every year on 24 December”, “monthly on the 24th”, or the date alone.", "Sage „jedes Jahr am 24. Dezember“, „monatlich am 24.“ oder nur das Datum.")  # fmt: skip
        return {"unit": "year", "month": day.month, "days": (day.day,)}

    def _without(self, unit: str) -> dict[str, Any]:
        said = self.said
        left = tuple(each for each in (said.weekdays or _EVERY_DAY) if each not in said.without)
        if unit not in ("", "day", "week") or (said.every and said.every[0] != 1) or said.days or said.nth or not left:
            raise self.contradiction()
        if not (said.every or said.recurring or said.weekdays):
            raise self._nothing_repeats()
        said.every = (1, "week")
        return {"unit": "week", "weekdays": left}

    def _of_months(self, unit: str) -> dict[str, Any]:
        """Days of each month, or of one month of the year."""
        said = self.said
        if unit in ("day", "week") or (said.days and said.weekdays) or (unit == "month" and said.month):
            raise self.contradiction()
        if not (said.monthly or said.recurring or said.every or said.month):
            raise wrong(self.line, "It is not said whether that is every month.", "Es ist nicht gesagt, ob das jeden Monat ist.", "Say “on the 1st and 15th of every month”.", "Sage „am 1. und 15. jedes Monats“.")  # fmt: skip
        month = {"month": said.month} if said.month else {}
        if unit == "year" and not said.month:
            raise wrong(self.line, "Which month is not said.", "Welcher Monat, ist nicht gesagt.", "Say “every year on 15 January”.", "Sage „jedes Jahr am 15. Januar“.")  # fmt: skip
        if said.nth is not None:
            return {"unit": "year" if said.month else "month", "weekdays": said.weekdays, "nth": said.nth, **month}
        return {"unit": "year" if said.month else "month", "days": said.days, **month}

    def _of_weeks(self, unit: str) -> dict[str, Any]:
        said = self.said
        if unit not in ("", "week") and not (unit == "day" and said.every == (1, "day")):
            raise wrong(self.line, "That names days and weekdays.", "Das nennt Tage und Wochentage.", "Say “every two weeks on Monday” or “the first Monday of the month”.", "Sage „alle zwei Wochen am Montag“ oder „am ersten Montag im Monat“.")  # fmt: skip
        if said.alternate:
            self.note("Every second one is every other week; for one of each month say “the second Monday of the month”.", "Jeder zweite heißt alle zwei Wochen; für einen je Monat sage „am zweiten Montag im Monat“.")  # fmt: skip
        return {"unit": "week", "weekdays": said.weekdays}

    def _by_unit(self, unit: str) -> dict[str, Any]:
        """No day is named: they count from today."""
        today = self.now.date()
        if unit in ("", "day"):
            if not self.said.every:
                raise self._nothing_repeats()
            return {"unit": "day"}
        first = bound_day(self, self.said.start, time(0)) if self.said.start else today
        if not self.said.start:
            self.note("No day was said: it counts from today.", "Es ist kein Tag genannt: Es zählt ab heute.")
        if unit == "week":
            return {"unit": "week", "weekdays": (first.isoweekday(),)}
        return {"unit": unit, "days": (first.day,), **({"month": first.month} if unit == "year" else {})}

    def _nothing_repeats(self) -> NotUnderstood:
        return wrong(self.line, "What repeats is not said.", "Was sich wiederholt, ist nicht gesagt.", "Say “every day at 8” or “every Sunday at 7”.", "Sage „jeden Tag um 8“ oder „jeden Sonntag um 7“.")  # fmt: skip

    def _first(self, what: dict[str, Any], every: int, times: tuple[time, ...]) -> date:
        """The day from which `every` counts: the first that fits; N units from today where neither day nor time was said."""
        said, today = self.said, self.now.date()
        if said.start:
            begin = bound_day(self, said.start, time(0))
            if begin < today:
                raise self.past(datetime.combine(begin, times[-1]))
        elif self._counts_from_now(what["unit"], every):
            return self.moved(today, every, what["unit"])
        else:
            begin = today if datetime.combine(today, times[-1]) > self.now else today + timedelta(days=1)
        if every == 1 or what["unit"] == "day":
            return begin
        if said.quarterly and said.days in ((1,), (-1,)):
            # the first day of a quarter is one of the calendar's, not of any third month
            begin = from_months(begin, (1, 4, 7, 10) if said.days == (1,) else (3, 6, 9, 12))
        if what["unit"] != "year":
            return next(days_from(Wall(times=times, start=begin, **what), begin))[0]
        # a year that has the day: every four years on 29 February begins in a leap year
        named = Said(
            days=what.get("days", ()), weekdays=what.get("weekdays", ()), nth=what.get("nth"), month=what.get("month")
        )
        return next((day for day in (begin + timedelta(days=step) for step in range(3300)) if fits(named, day)), begin)

    def _counts_from_now(self, unit: str, every: int) -> bool:
        said = self.said
        named = (
            said.weekdays
            or said.days
            or said.date
            or said.clocks
            or said.part
            or said.nth
            or said.month
            or said.without
        )
        return bool(said.every) and not named and not (unit == "day" and every == 1)

    def _until(self, start: date) -> date | None:
        said = self.said
        if said.lasting and said.until:
            raise self.contradiction()
        if said.lasting:
            number, unit = said.lasting
            return self.moved(max(start, self.now.date()), int(number), unit) - timedelta(days=1)
        if said.until is None:
            return None
        found = bound_day(self, said.until, time(0), after=start)
        if found < start or found < self.now.date():
            raise wrong(self.line, f"{found.isoformat()} is before it begins.", f"Der {found:%d.%m.%Y} liegt vor dem Anfang.", "Say an end that is still to come.", "Sage ein Ende, das noch kommt.")  # fmt: skip
        return found
