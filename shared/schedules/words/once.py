"""Something that comes once: in ten minutes, tomorrow at 8, on Friday, on 24 December."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

from shared.schedules.domain import LONGEST, Once
from shared.schedules.words.domain import Day, NotUnderstood
from shared.schedules.words.meaning import SECONDS, Meaning, fits, wrong


class OnceMeaning(Meaning):
    def rule(self) -> Once:
        return self._after() if self.said.offset else self._once()

    def _after(self) -> Once:
        """In so many seconds, minutes, hours: an instant. In days and longer: the wall clock that many days on, now's or the one said."""
        said, line = self.said, self.line
        if (
            said.every
            or said.recurring
            or said.weekdays
            or said.days
            or said.date
            or said.ahead
            or said.habit
            or said.until
            or said.coming
        ):
            raise self._two_times()
        if sum(number for number, _ in said.offset) <= 0:
            raise wrong(line, "That is now.", "Das ist jetzt.", "Say a time to come, such as “in 10 minutes”.", "Sage eine Zeit, die noch kommt, etwa „in 10 Minuten“.")  # fmt: skip
        short = [number * SECONDS[unit] for number, unit in said.offset if unit in SECONDS]
        if len(short) == len(said.offset):
            return self._after_seconds(sum(short))
        if short or any(not number.is_integer() for number, _ in said.offset):
            raise wrong(line, "Days and hours do not go together there.", "Tage und Stunden gehen hier nicht zusammen.", "Say “in 3 days at 8” or “in 30 hours”.", "Sage „in 3 Tagen um 8“ oder „in 30 Stunden“.")  # fmt: skip
        return self._after_days()

    def _two_times(self) -> NotUnderstood:
        return wrong(self.line, "That names two times.", "Das nennt zwei Zeiten.", "Say “in 2 hours” or “tomorrow at 8”, not both.", "Sage „in 2 Stunden“ oder „morgen um 8“, nicht beides.")  # fmt: skip

    def _after_seconds(self, seconds: float) -> Once:
        if self.said.clocks or self.said.part:
            raise self._two_times()
        if seconds > 10 * LONGEST:
            raise self.too_far()
        return Once(at=(self.at + timedelta(seconds=round(seconds))).replace(microsecond=0))

    def _after_days(self) -> Once:
        day = self.now.date()
        for number, unit in self.said.offset:
            day = self.moved(day, int(number), unit)
        if self.said.clocks or self.said.part:
            return self._at(day)
        self.note("No time was said: it is the same time of day as now.", "Es ist keine Uhrzeit genannt: Es ist dieselbe Tageszeit wie jetzt.")  # fmt: skip
        return Once(wall=datetime.combine(day, self.now.time().replace(second=0, microsecond=0)))

    def _once(self) -> Once:
        said, line = self.said, self.line
        if said.instant:
            return Once(at=said.instant)
        if not (said.has_day or said.clocks or said.part):
            raise wrong(line, "No time is said.", "Es ist keine Zeit genannt.", "Say when, such as “every Sunday at 7” or “in 10 minutes”.", "Sage, wann, etwa „jeden Sonntag um 7“ oder „in 10 Minuten“.")  # fmt: skip
        if said.month and not said.days and not said.nth and not said.date:
            raise wrong(line, "Which day is not said.", "Welcher Tag, ist nicht gesagt.", "Say “on 15 January”.", "Sage „am 15. Januar“.")  # fmt: skip
        if len(said.days) > 1:
            raise wrong(line, "Once is one day, and several are named.", "Einmal ist ein Tag, und es sind mehrere genannt.", "Say “on the 1st and 15th of every month”, or name one.", "Sage „am 1. und 15. jedes Monats“, oder nenne einen.")  # fmt: skip
        times = self.times()
        if len(times) > 1:
            raise wrong(line, "Once has one time.", "Einmal hat eine Uhrzeit.", "Say “every day at 8 and 20:00”, or make one for each.", "Sage „täglich um 8 und 20 Uhr“, oder lege für jede eines an.")  # fmt: skip
        days = list(self._days_meant(times[0]))
        if not days:
            raise self.past(None)
        return self._at(days[0])

    def _at(self, day: date) -> Once:
        times = self.times()
        found = datetime.combine(day, times[0])
        if len(times) > 1 or found <= self.now:
            raise self.past(found)
        return Once(wall=found)

    def _days_meant(self, at: time) -> Iterator[date]:
        """The first day that everything said is true of. `at` decides whether today still counts."""
        said, today = self.said, self.now.date()
        if said.date:
            yield from self._dated(said.date, at)
            return
        self.whose_night(at)
        if said.nth == -1 and not (said.month or said.monthly or said.coming):
            raise wrong(self.line, "The last one can be one that is past, or the month's last.", "Der letzte kann ein vergangener sein, oder der letzte des Monats.", "Say “next Friday” or “the last Friday of the month”.", "Sage „nächsten Freitag“ oder „am letzten Freitag im Monat“.")  # fmt: skip
        if said.ahead is not None:
            by_night = (
                said.ahead == 0 and at < time(6) and (said.part or (said.clocks and said.clocks[0].part)) == "night"
            )
            day = today + timedelta(days=said.ahead + by_night)
            if (said.weekdays and day.isoweekday() not in said.weekdays) or said.days or said.coming:
                raise self.contradiction()
            yield day
            return
        first = today if datetime.combine(today, at) > self.now else today + timedelta(days=1)
        if said.coming:
            yield from self._in_coming(first)
            return
        if not (said.weekdays or said.days):
            yield first
            return
        yield from (day for day in (first + timedelta(days=step) for step in range(366 * 9)) if fits(self.said, day))

    def _dated(self, day: Day, at: time) -> Iterator[date]:
        said = self.said
        if said.days or said.ahead is not None or said.coming or said.nth or len(said.weekdays) > 1:
            raise self.contradiction()
        found = self.resolve(day, after=self.now, at=at)
        if said.weekdays and found.isoweekday() not in said.weekdays:
            names = self.line.say("Monday Tuesday Wednesday Thursday Friday Saturday Sunday", "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag").split()  # fmt: skip
            name = names[found.weekday()]
            raise wrong(self.line, f"{found.isoformat()} is a {name}.", f"Der {found:%d.%m.%Y} ist ein {name}.", "Say the date or the weekday.", "Sage das Datum oder den Wochentag.")  # fmt: skip
        yield found

    def _in_coming(self, first: date) -> Iterator[date]:
        """Next Friday: the first one after today. Friday next week; the 3rd of next month."""
        steps, unit = self.said.coming or (0, "day")
        today = self.now.date()
        if unit == "day":
            begin = today + timedelta(days=1) if steps else first
            yield from (day for day in (begin + timedelta(days=step) for step in range(8)) if fits(self.said, day))
            return
        if not (self.said.weekdays or self.said.days):
            raise wrong(self.line, "Which day is not said.", "Welcher Tag, ist nicht gesagt.", "Say “Monday next week” or “on the 1st of next month”.", "Sage „Montag nächster Woche“ oder „am 1. des nächsten Monats“.")  # fmt: skip
        begin, days = self.span(unit, steps)
        found = (begin + timedelta(days=step) for step in range(days))
        yield from (day for day in found if day >= first and fits(self.said, day))
