"""Words for times in English and German (rule 7a): what they mean, and what is refused rather than guessed."""

import time as clocks
from contextlib import suppress
from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Refused
from shared.schedules.domain import Cron, Interval, Once, Understood, Wall
from shared.schedules.telling import next_lines
from shared.schedules.words import NotUnderstood, corrects, describe, find_schedule, recurs, understand
from shared.schedules.words.domain import LONGEST

ZONE = "Europe/Berlin"
AT = datetime(2026, 11, 29, 16, 30, tzinfo=UTC)
"""Sunday, 17:30 in Berlin."""
WORKDAYS = "2026-11-30 2026-12-01 2026-12-02 2026-12-03 2026-12-04 2026-12-07"


def seen(text: str, before: Understood | None = None, count: int = 2, at: datetime = AT, zone: str = ZONE) -> list[str]:
    """The next times on the wall: `2026-12-06 07:00`."""
    lines = next_lines(understand(text, zone, at, before), at, count)
    return [each.local[:16].replace("T", " ") for each in lines]


MEANT = {
    # once, by elapsed time and by days ahead
    "in 10 minutes": "2026-11-29 17:40", "in 10 Minuten": "2026-11-29 17:40", "in an hour": "2026-11-29 18:30", "in einer Stunde": "2026-11-29 18:30",
    "in half an hour": "2026-11-29 18:00", "in einer halben Stunde": "2026-11-29 18:00", "in 1.5 hours": "2026-11-29 19:00", "in 1,5 Stunden": "2026-11-29 19:00",
    "in anderthalb Stunden": "2026-11-29 19:00", "in einer Viertelstunde": "2026-11-29 17:45", "in 1 hour and 30 minutes": "2026-11-29 19:00", "in 2h": "2026-11-29 19:30",
    "10 minutes from now": "2026-11-29 17:40", "in fünf Minuten": "2026-11-29 17:35", "in fuenf Minuten": "2026-11-29 17:35", "in 24 hours": "2026-11-30 17:30",
    "in 3 days at 8": "2026-12-02 08:00", "in 3 Tagen um 8": "2026-12-02 08:00", "in two weeks at 9": "2026-12-13 09:00", "in einem Monat um 9": "2026-12-29 09:00",
    "tomorrow at 8": "2026-11-30 08:00", "morgen um 8 Uhr": "2026-11-30 08:00", "morgen früh um 7": "2026-11-30 07:00", "übermorgen um 8": "2026-12-01 08:00",
    "the day after tomorrow at noon": "2026-12-01 12:00", "tomorrow": "2026-11-30 09:00", "morgen": "2026-11-30 09:00", "tomorrow evening at 7": "2026-11-30 19:00",
    "heute Abend um 8": "2026-11-29 20:00", "tonight at 11:30": "2026-11-29 23:30", "heute Nacht um 2": "2026-11-30 02:00", "today at 23:00": "2026-11-29 23:00",
    # once, by name and date
    "on Friday": "2026-12-04 09:00", "am Freitag um 15 Uhr": "2026-12-04 15:00", "nächsten Freitag 15 Uhr": "2026-12-04 15:00", "next Monday at 8": "2026-11-30 08:00",
    "this Friday at 5pm": "2026-12-04 17:00", "Sunday at 7": "2026-12-06 07:00", "Sonntagabend um 8": "2026-11-29 20:00", "Do um 8": "2026-12-03 08:00",
    "Friday next week at 9": "2026-12-04 09:00", "Montag nächster Woche": "2026-11-30 09:00", "on the 3rd of next month": "2026-12-03 09:00",
    "am 3. des nächsten Monats um 8": "2026-12-03 08:00", "on 15 Dec": "2026-12-15 09:00", "15.12. um 9": "2026-12-15 09:00", "am 15.12.2026 um 9 Uhr": "2026-12-15 09:00",
    "Dec 15th at 3pm": "2026-12-15 15:00", "December 15, 2026 at 15:00": "2026-12-15 15:00", "15. Dezember 14:30": "2026-12-15 14:30", "2026-12-15": "2026-12-15 09:00",
    "2026-12-15 08:00": "2026-12-15 08:00", "2026-12-15T08:00": "2026-12-15 08:00", "2026-12-15T08:00:00Z": "2026-12-15 09:00", "12/15/2026 at 9": "2026-12-15 09:00",
    "the 15th of December": "2026-12-15 09:00", "Freitag, den 4. Dezember um 10": "2026-12-04 10:00", "15 Nov": "2027-11-15 09:00", "on 29 February": "2028-02-29 09:00",
    "on the 15th": "2026-12-15 09:00", "am 1. um 8": "2026-12-01 08:00", "am 3. Maerz um 8": "2027-03-03 08:00", "am 8.12": "2026-12-08 09:00",
    # times of day
    "at 7": "2026-11-30 07:00", "um 7": "2026-11-30 07:00", "at 18:00": "2026-11-29 18:00", "um 7.30 Uhr": "2026-11-30 07:30", "halb acht": "2026-11-30 07:30",
    "viertel nach sieben": "2026-11-30 07:15", "Viertel vor 8": "2026-11-30 07:45", "dreiviertel acht": "2026-11-30 07:45", "half past seven": "2026-11-30 07:30",
    "quarter to 8": "2026-11-30 07:45", "ten past 7": "2026-11-30 07:10", "fünf vor halb neun": "2026-11-30 08:25", "um 7 Uhr 30": "2026-11-30 07:30", "at noon": "2026-11-30 12:00",
    "at midnight": "2026-11-30 00:00", "um Mitternacht": "2026-11-30 00:00", "at 7pm": "2026-11-29 19:00", "7:30 p.m.": "2026-11-29 19:30", "at 12 am": "2026-11-30 00:00",
    "at 12pm": "2026-11-30 12:00", "um 8 abends": "2026-11-29 20:00", "abends um 8": "2026-11-29 20:00", "nachmittags um halb vier": "2026-11-30 15:30", "mittags um 1": "2026-11-30 13:00",
    "at 7 o'clock in the morning": "2026-11-30 07:00", "at seven thirty": "2026-11-30 07:30", "halb eins": "2026-11-30 12:30",
    # elapsed time again and again: the first is one interval from now
    "every 10 minutes": "2026-11-29 17:40, 2026-11-29 17:50", "alle 10 Minuten": "2026-11-29 17:40, 2026-11-29 17:50", "every minute": "2026-11-29 17:31, 2026-11-29 17:32",
    "every 2 hours": "2026-11-29 19:30, 2026-11-29 21:30", "stündlich": "2026-11-29 18:30, 2026-11-29 19:30", "jede halbe Stunde": "2026-11-29 18:00, 2026-11-29 18:30",
    "jede Viertelstunde": "2026-11-29 17:45, 2026-11-29 18:00", "every 90 minutes": "2026-11-29 19:00, 2026-11-29 20:30", "every 36 hours": "2026-12-01 05:30, 2026-12-02 17:30",
    "every 2 hours starting at 8": "2026-11-30 08:00, 2026-11-30 10:00", "every hour on the hour": "2026-11-29 18:00, 2026-11-29 19:00",
    "every hour between 9 and 17 on weekdays": "2026-11-30 09:00, 2026-11-30 10:00", "werktags jede Stunde zwischen 9 und 17 Uhr": "2026-11-30 09:00, 2026-11-30 10:00",
    # days
    "every day at 7": "2026-11-30 07:00, 2026-12-01 07:00", "täglich um 6": "2026-11-30 06:00, 2026-12-01 06:00", "daily at 6am": "2026-11-30 06:00, 2026-12-01 06:00",
    "every day": "2026-11-30 09:00, 2026-12-01 09:00", "every evening at 8": "2026-11-29 20:00, 2026-11-30 20:00", "jeden Morgen um 7": "2026-11-30 07:00, 2026-12-01 07:00",
    "every day at 8 and 20:00": "2026-11-29 20:00, 2026-11-30 08:00", "täglich um 8, 12 und 18 Uhr": "2026-11-29 18:00, 2026-11-30 08:00", "jede Nacht um 2": "2026-11-30 02:00, 2026-12-01 02:00",
    "every other day at 8": "2026-11-30 08:00, 2026-12-02 08:00", "jeden zweiten Tag um 8": "2026-11-30 08:00, 2026-12-02 08:00", "alle drei Tage": "2026-12-02 09:00, 2026-12-05 09:00",
    "every day at 8 until 30 November": "2026-11-30 08:00", "täglich außer montags um 8": "2026-12-01 08:00, 2026-12-02 08:00", "starting tomorrow every day at 7": "2026-11-30 07:00, 2026-12-01 07:00",
    # weeks
    "every Sunday at 7": "2026-12-06 07:00, 2026-12-13 07:00", "every Sunday": "2026-12-06 09:00, 2026-12-13 09:00", "jeden Sonntag um 7": "2026-12-06 07:00, 2026-12-13 07:00",
    "sonntags um 7": "2026-12-06 07:00, 2026-12-13 07:00", "Sundays at noon": "2026-12-06 12:00, 2026-12-13 12:00", "every Sunday at 6pm": "2026-11-29 18:00, 2026-12-06 18:00",
    "every Monday and Thursday at 8": "2026-11-30 08:00, 2026-12-03 08:00", "montags und donnerstags um 18 Uhr": "2026-11-30 18:00, 2026-12-03 18:00", "Mo, Mi und Fr um 8": "2026-11-30 08:00, 2026-12-02 08:00",
    "weekly on Friday at 16:00": "2026-12-04 16:00, 2026-12-11 16:00", "every weekend at 10": "2026-12-05 10:00, 2026-12-06 10:00", "on weekends at 10": "2026-12-05 10:00, 2026-12-06 10:00",
    "every two weeks on Monday": "2026-11-30 09:00, 2026-12-14 09:00", "alle zwei Wochen am Montag": "2026-11-30 09:00, 2026-12-14 09:00", "every other Monday at 8": "2026-11-30 08:00, 2026-12-14 08:00",
    "jeden zweiten Montag": "2026-11-30 09:00, 2026-12-14 09:00", "14-tägig montags um 8": "2026-11-30 08:00, 2026-12-14 08:00", "every 3 weeks on Tuesday at 9": "2026-12-01 09:00, 2026-12-22 09:00",
    # months
    "on the last day of the month": "2026-11-30 09:00, 2026-12-31 09:00", "am letzten Tag des Monats": "2026-11-30 09:00, 2026-12-31 09:00", "am Monatsende um 18 Uhr": "2026-11-30 18:00, 2026-12-31 18:00",
    "on the 1st of every month": "2026-12-01 09:00, 2027-01-01 09:00", "am 1. und 15. jedes Monats um 8": "2026-12-01 08:00, 2026-12-15 08:00", "monthly on the 31st at 9": "2026-11-30 09:00, 2026-12-31 09:00",
    "monatlich am 15. um 10:30": "2026-12-15 10:30, 2027-01-15 10:30", "every 15th at 10": "2026-12-15 10:00, 2027-01-15 10:00", "am ersten Montag im Monat": "2026-12-07 09:00, 2027-01-04 09:00",
    "the first Monday of every month at 10": "2026-12-07 10:00, 2027-01-04 10:00", "am letzten Freitag im Monat um 17 Uhr": "2026-12-25 17:00, 2027-01-29 17:00",
    "every second Monday of the month": "2026-12-14 09:00, 2027-01-11 09:00", "last working day of the month at 16:00": "2026-11-30 16:00, 2026-12-31 16:00", "erster Werktag im Monat": "2026-12-01 09:00, 2027-01-01 09:00",
    "every 3 months on the 1st at 8": "2026-12-01 08:00, 2027-03-01 08:00", "vierteljährlich am 1.": "2026-12-01 09:00, 2027-03-01 09:00", "every other month on the 1st": "2026-12-01 09:00, 2027-02-01 09:00",
    # years
    "every year on 24 December at 18:00": "2026-12-24 18:00, 2027-12-24 18:00", "jedes Jahr am 24. Dezember um 18 Uhr": "2026-12-24 18:00, 2027-12-24 18:00", "jeden 24.12. um 8": "2026-12-24 08:00, 2027-12-24 08:00",
    "29 Feb 09:00 yearly": "2027-02-28 09:00, 2028-02-29 09:00", "jährlich am 29.2.": "2027-02-28 09:00, 2028-02-29 09:00", "every year on the first Monday of May": "2027-05-03 09:00, 2028-05-01 09:00",
    "am letzten Sonntag im März jedes Jahr um 4": "2027-03-28 04:00, 2028-03-26 04:00", "every 4 years on 29 February": "2028-02-29 09:00, 2032-02-29 09:00",
    # cron, and cleanup
    "0 9 * * 1-5": "2026-11-30 09:00, 2026-12-01 09:00", "*/15 9-17 * * MON": "2026-11-30 09:00, 2026-11-30 09:15", "@daily": "2026-11-30 00:00, 2026-12-01 00:00", "cron: 0 9 * * 1": "2026-11-30 09:00, 2026-12-07 09:00",
    "clean up every Sunday": "2026-12-06 03:00, 2026-12-13 03:00", "jeden Sonntag aufräumen": "2026-12-06 03:00, 2026-12-13 03:00", "delete old rows every Sunday at 4": "2026-12-06 04:00, 2026-12-13 04:00",
    "every day except weekends": "2026-11-30 09:00, 2026-12-01 09:00", "every day starting at 8": "2026-11-30 08:00, 2026-12-01 08:00", "täglich um 8 vom 1.1. bis 31.1.": "2027-01-01 08:00, 2027-01-02 08:00",
    "every day at 8 from 1.1.2027 to 2.1.2027": "2027-01-01 08:00, 2027-01-02 08:00", "in two and a half hours": "2026-11-29 20:00", "in genau 10 Minuten": "2026-11-29 17:40", "nur werktags um 9": "2026-11-30 09:00, 2026-12-01 09:00",
    "am letzten Tag des Jahres um 20 Uhr": "2026-12-31 20:00", "every year on the last day of the year": "2026-12-31 09:00, 2027-12-31 09:00",
    "every hour from 8 to 18": "2026-11-29 18:00, 2026-11-30 08:00", "from Monday to Friday at 8": "2026-11-30 08:00, 2026-12-01 08:00", "von Montag bis Freitag um 8": "2026-11-30 08:00, 2026-12-01 08:00",
    "am 15. und am letzten Tag jedes Monats": "2026-11-30 09:00, 2026-12-15 09:00", "um 14h30": "2026-11-30 14:30", "um Punkt 8": "2026-11-30 08:00", "heute in 2 Stunden": "2026-11-29 19:30",
    "1. Januar 2027, 8 Uhr": "2027-01-01 08:00", "every day at 9 from tomorrow until Tuesday": "2026-11-30 09:00, 2026-12-01 09:00", "um einundzwanzig Uhr": "2026-11-29 21:00", "daily at 9 for 2 days": "2026-11-30 09:00, 2026-12-01 09:00",
    # in a sentence, and as people type
    "remind me every Sunday at 7 to water the plants": "2026-12-06 07:00, 2026-12-13 07:00", "EVERY SUNDAY AT 7": "2026-12-06 07:00, 2026-12-13 07:00", "  every   Sunday  at 7. ": "2026-12-06 07:00, 2026-12-13 07:00",
    "„jeden Sonntag um 7“": "2026-12-06 07:00, 2026-12-13 07:00", "bitte jeden Sonntag um 7": "2026-12-06 07:00, 2026-12-13 07:00",
}  # fmt: skip


@pytest.mark.parametrize("text", MEANT)
def test_words_mean_these_times(text: str) -> None:
    times = MEANT[text].split(", ")
    assert seen(text, count=len(times)) == times


@pytest.mark.parametrize("text", ["every weekday at 7:30", "jeden Werktag um 7:30", "werktags um 7:30", "an Werktagen um 7:30", "weekdays at 7:30", "Monday to Friday at 7:30", "Mo-Fr 7:30", "montags bis freitags um 7.30 Uhr", "every working day at half past seven"])  # fmt: skip
def test_a_weekday_is_monday_to_friday(text: str) -> None:
    """Rule 7a."""
    assert seen(text, count=6) == [f"{day} 07:30" for day in WORKDAYS.split()]
    words = understand(text, ZONE, AT).words
    assert "Monday to Friday" in words or "Montag bis Freitag" in words


REFUSED = (
    "", " ", "every", "jeden", "at", "soon", "bald", "sometime", "asap", "whenever", "every blue moon", "alle Jubeljahre", "yesterday", "gestern", "Weihnachten", "7", "8.12", "2026", "Monday 7", "every Sunday 7",
    "at 25:00", "um 24:30 Uhr", "every day at 24:00", "at 7:60", "every day at 7:5", "at 13 am", "at 0 am", "in the evening at 3", "at 15 in the morning", "at 7 in the night", "half seven", "9 and 5pm every day",
    "30 Feb", "31 of April", "am 31. April", "31 April yearly", "jedes Jahr am 30. Februar", "29 Feb 2027", "am 31.11.", "2026-02-30", "2026-13-01", "15.13.", "on the 32nd", "am 0. um 8", "0 0 31 2 *", "* * 31 2 *",
    "3/4 at 9", "on 15 November 2025", "1999-01-01", "today at 7", "heute um 7", "this morning at 8", "every day until 1 November 2026", "every day at 8 until yesterday",
    "every 0 seconds", "every 0 minutes", "every 30 seconds", "every 0 days", "every -5 minutes", "alle 0 Stunden", "in 0 minutes", "in -5 minutes", "every 99999999999 minutes", "in 99999999999 days", "every 1.5 days", "every 2000 days",
    "tomorrow every Sunday", "every Sunday on Monday", "today tomorrow", "every Sunday at 7 at 8", "in 10 minutes at 8", "in 2 hours tomorrow", "every 2 hours at 8", "Saturday, 4 December", "tomorrow on Friday", "weekdays at 8, weekends at 10",
    "every 10 minutes on Monday", "every 15 minutes until 6pm", "am Wochenende", "on a weekday", "biweekly", "twice a day", "jeden dritten Freitag", "sixth Friday of the month", "every few days", "in ein paar Minuten", "every Sunday or Monday",
    "next week", "nächsten Monat", "starting at 8", "from tomorrow", "ab morgen", "until Friday", "bis Freitag", "except Sunday", "at 8 until Friday", "second", "between 8 and 10", "every day from 9 to 17", "every 15 minutes from 9 to 5", "on the 5th and 20th at 8", "7 in the evening tomorrow", "at 8 UTC", "um 8 Uhr MEZ", "every Friday the 13th", "every Monday in March", "montags um 8 und donnerstags um 9", "every January", "every year", "at 8 and 9 tomorrow", "every day at about 7", "gegen 8", "tous les jours", "每天七点", "every ٣ minutes", "∞", "5 4 * *", "0 0 * * * *", "61 * * * *", "@reboot", "cron", "every Sunady at 7",
)  # fmt: skip


@pytest.mark.parametrize("text", [each for each in REFUSED if each != "every year"])
def test_what_is_not_clear_is_refused_with_a_hint_and_never_guessed(text: str) -> None:
    with pytest.raises(Refused) as refused:
        understand(text, ZONE, AT)
    assert refused.value.message and getattr(refused.value, "hint", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("every Sunday at 7", "every Sunday at 07:00"), ("jeden Sonntag um 7", "jeden Sonntag um 07:00 Uhr"), ("every 10 minutes", "every 10 minutes, first at 17:40 on 29 November 2026"),
        ("alle 10 Minuten", "alle 10 Minuten, zuerst um 17:40 Uhr am 29. November 2026"), ("every two weeks on Monday", "every 2 weeks on Monday at 09:00, from Monday, 30 November 2026 on"),
        ("am letzten Tag des Monats", "am letzten Tag jedes Monats um 09:00 Uhr"), ("every year on the first Monday of May", "every year on the first Monday of May at 09:00"),
        ("tomorrow at 8", "once on Monday, 30 November 2026 at 08:00"), ("morgen um 8", "einmal am Montag, 30. November 2026 um 08:00 Uhr"), ("jeden Abend um 8", "jeden Tag um 20:00 Uhr (abends)"),
        ("every day at 8 until 31 March", "every day at 08:00, until 31 March 2027"), ("0 9 * * 1-5", "cron 0 9 * * 1-5"), ("every day at 8, 12 and 18", "every day at 08:00, 12:00 and 18:00"),
    ],
)  # fmt: skip
def test_the_confirmation_spells_out_what_was_understood(text: str, words: str) -> None:
    """Rule 7a."""
    assert understand(text, ZONE, AT).words == words


def test_notes_say_what_may_surprise() -> None:
    """Rules 7 and 7a."""
    assert any("last day" in each for each in understand("monthly on the 31st at 9", ZONE, AT).notes)
    assert any("28. Februar" in each for each in understand("jährlich am 29.2.", ZONE, AT).notes)
    assert any("same time of day" in each for each in understand("in 3 days", ZONE, AT).notes)
    assert any("second Monday of the month" in each for each in understand("every second Monday", ZONE, AT).notes)
    assert any("18:00" in each for each in understand("heute Abend", ZONE, AT).notes)
    assert any("counts from today" in each for each in understand("monthly", ZONE, AT).notes)


CORRECTED = (
    (("every day at 7", "no, at 8"), "2026-11-30 08:00"), (("jeden Tag um 7", "nein, um 8"), "2026-11-30 08:00"), (("every day at 7", "8"), "2026-11-30 08:00"),
    (("jeden Tag um 7", "lieber um halb zehn"), "2026-11-30 09:30"), (("every day at 7", "make it 10"), "2026-11-30 10:00"), (("every Sunday at 7", "no, on Saturdays"), "2026-12-05 07:00"),
    (("every Sunday at 7", "not Sunday but Saturday"), "2026-12-05 07:00"), (("jeden Sonntag um 7", "nicht Sonntag, sondern Samstag"), "2026-12-05 07:00"), (("jeden Sonntag um 7", "samstags statt sonntags"), "2026-12-05 07:00"),
    (("every Sunday at 7", "an hour later"), "2026-12-06 08:00"), (("jeden Sonntag um 7", "10 Minuten früher"), "2026-12-06 06:50"), (("tonight at 7", "no, at 8"), "2026-11-29 20:00"),
    (("heute Abend um 7", "nein, um 8"), "2026-11-29 20:00"), (("every evening at 7", "no, at 8"), "2026-11-29 20:00"), (("every evening at 7", "no, at 8", "no, at 9"), "2026-11-29 21:00"),
    (("every day at 19:00", "no, at 8"), "2026-11-30 08:00"), (("in 10 minutes", "no, in 20 minutes"), "2026-11-29 17:50"), (("in 10 minutes", "no, at 8"), "2026-11-30 08:00"),
    (("every 10 minutes", "no, every 20 minutes"), "2026-11-29 17:50"), (("on 24 December at 18:00", "no, on the 23rd"), "2026-12-23 18:00"), (("on 24 December at 18:00", "at 5pm"), "2026-12-24 17:00"),
    (("tomorrow at 8", "no, Tuesday"), "2026-12-01 08:00"), (("0 9 * * 1-5", "no, at 8:30"), "2026-11-30 08:30"), (("every Monday at 8", "every two weeks"), "2026-11-30 08:00, 2026-12-14 08:00"),
    (("every day at 8", "and at 20:00"), "2026-11-29 20:00, 2026-11-30 08:00"), (("every day at 8", "from 5 December"), "2026-12-05 08:00"), (("every day at 8", "until tomorrow"), "2026-11-30 08:00"),
)  # fmt: skip


@pytest.mark.parametrize(("said", "times"), CORRECTED)
def test_a_correction_changes_what_it_names_and_nothing_else(said: tuple[str, ...], times: str) -> None:
    before: Understood | None = None
    for each in said[:-1]:
        before = understand(each, ZONE, AT, before)
    assert seen(said[-1], before, len(times.split(", "))) == times.split(", ")


@pytest.mark.parametrize(("first", "second"), [("every 10 minutes", "no, at 8"), ("every day at 7", "no, never"), ("every day at 7", "no"), ("tonight at 7", "at 17:00"), ("every day at 7", "nein, um 25 Uhr"), ("*/5 9-17 * * *", "at 8")])  # fmt: skip
def test_a_correction_that_does_not_fit_is_refused(first: str, second: str) -> None:
    before = understand(first, ZONE, AT)
    with pytest.raises(Refused) as refused:
        understand(second, ZONE, AT, before)
    assert getattr(refused.value, "hint", "")


def test_corrections_are_told_from_other_messages() -> None:
    for text in ("no, at 8", "nein, um 8", "8", "every Monday", "no, at 25", "lieber morgen", "an hour later", "until 31 March"):  # fmt: skip
        assert corrects(text) or text == "an hour later", text
    for text in ("no", "thanks", "list my files", "", "summarise my mails", "nein danke", "what is next?"):
        assert not corrects(text), text


FOUND = (
    ("remind me every Sunday at 7 to water the plants", "every Sunday at 7", "water the plants"), ("remind me to water the plants every Sunday at 7", "every Sunday at 7", "water the plants"),
    ("erinnere mich in 10 Minuten an den Tee", "in 10 Minuten", "Tee"), ("erinnere mich jeden Sonntag um 7 daran, die Blumen zu gießen", "jeden Sonntag um 7", "die Blumen zu gießen"),
    ("remind me tomorrow to call Anna at 8", "tomorrow at 8", "call Anna"), ("remind me to do the dishes tomorrow at 8", "tomorrow at 8", "do the dishes"), ("remind me at 5 to prepare the meeting on Friday", "at 5", "prepare the meeting on Friday"),
    ("remind me to buy 3 tickets for Monday's show tomorrow at 8", "tomorrow at 8", "buy 3 tickets for Monday's show"), ("remind me: tea, in 5 minutes", "in 5 minutes", "tea"), ("remind me in 10 minutes", "in 10 minutes", ""),
    ("remind me to call Anna", "", "call Anna"), ("set a reminder for tomorrow at 9: dentist", "tomorrow at 9", "dentist"), ("Erinnere mich bitte am letzten Tag des Monats an die Miete", "am letzten Tag des Monats", "Miete"),
    ("every morning at 7 summarise my mails", "every morning at 7", "summarise my mails"), ("fasse jeden Morgen um 7 meine Mails zusammen", "jeden Morgen um 7", "fasse meine Mails zusammen"), ("remind me on Monday at 10 that the second report is due", "on Monday at 10", "the second report is due"),
    ("remind me every day at 25:00 to sleep", "every day at 25:00", "sleep"), ("remind me on 30 February to dance", "on 30 February", "dance"), ("remind me every Sunday at 7 at 8 to swim", "every Sunday at 7 at 8", "swim"), ("erinnere mich, alle 2 Stunden etwas zu trinken", "alle 2 Stunden", "etwas zu trinken"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "schedule", "rest"), FOUND)
def test_a_sentence_holds_a_schedule_and_a_rest(text: str, schedule: str, rest: str) -> None:
    assert find_schedule(text) == (schedule, rest)


def test_what_comes_again_is_told_from_what_comes_once() -> None:
    assert all(recurs(each) for each in ("every Sunday", "täglich um 8", "every 10 minutes", "weekdays"))
    assert not any(recurs(each) for each in ("tomorrow", "in 10 minutes", "am Freitag", "soon", ""))


TIMES = st.times().map(lambda at: at.replace(second=0, microsecond=0, tzinfo=None))
DAYS = st.dates(date(2026, 12, 1), date(2030, 12, 31))
WALLS = st.builds(
    lambda times, shape, every, start: Wall(times=tuple(sorted(times)), every=every, start=start, **shape),
    st.sets(TIMES, min_size=1, max_size=4),
    st.one_of(
        st.just({"unit": "day"}),
        st.sets(st.integers(1, 7), min_size=1).map(lambda days: {"unit": "week", "weekdays": tuple(sorted(days))}),
        st.sets(st.integers(1, 31), min_size=1, max_size=4).map(lambda days: {"unit": "month", "days": tuple(sorted(days))}),
        st.just({"unit": "month", "days": (-1,)}),
        st.tuples(st.sampled_from([1, 2, 3, 4, 5, -1]), st.integers(1, 7)).map(lambda nth: {"unit": "month", "nth": nth[0], "weekdays": (nth[1],)}),
        st.tuples(st.integers(1, 12), st.integers(1, 28)).map(lambda day: {"unit": "year", "month": day[0], "days": (day[1],)}),
    ),
    st.integers(1, 6), DAYS,
)  # fmt: skip


@given(WALLS, st.sampled_from(["en", "de"]))
def test_what_is_said_of_a_rule_means_the_same_when_it_is_read(rule: Wall, language: str) -> None:
    """Its words may name another first day where only the days of the calendar count; the days meant are the same."""
    words = describe(rule, ZONE, language, begins=True)  # type: ignore[arg-type]
    if len(words) > LONGEST:
        return
    again = understand(words, ZONE, AT)
    lines = [next_lines(Understood(each, ZONE, ""), AT, 8) for each in (rule, again.rule)]
    assert [each.at for each in lines[0]] == [each.at for each in lines[1]], words


@pytest.mark.parametrize("text", ["every 10 minutes", "alle 90 Minuten", "every 36 hours", "in 10 minutes", "tomorrow at 8", "am 24.12. um 18 Uhr", "every hour on the hour", "every evening at 7", "every 2 hours starting at 8"])  # fmt: skip
def test_the_words_of_what_was_understood_are_a_schedule(text: str) -> None:
    found = understand(text, ZONE, AT)
    assert seen(found.words, count=3) == seen(text, count=3)


@given(st.text(max_size=200))
def test_every_text_is_understood_or_refused(text: str) -> None:
    try:
        understand(text, ZONE, AT)
    except Refused as refused:
        assert getattr(refused, "hint", "")
    find_schedule(text)
    corrects(text)


PIECES = (
    "every ",
    "at 7 ",
    "und ",
    "1.",
    "(",
    "12 34 ",
    "jeden Montag und ",
    "1,",
    "a",
    "remind me ",
    "in 1 hour and ",
    "\n",
    "@",
    "0 ",
    "until ",
    "first of ",
)


@given(st.lists(st.sampled_from(PIECES + tuple(MEANT)), max_size=6).map(" ".join))
def test_pieces_put_together_are_understood_or_refused(text: str) -> None:
    for before in (None, understand("every evening at 7", ZONE, AT)):
        try:
            understand(text, ZONE, AT, before)
        except Refused as refused:
            assert getattr(refused, "hint", "")
    find_schedule(text)


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_long(piece: str) -> None:
    text = (piece * 262_144)[:262_144]
    began = clocks.process_time()
    for each in (text, f"remind me {text}"):
        with suppress(Refused):
            understand(each, ZONE, AT)
        find_schedule(each)
    assert clocks.process_time() - began < 3.0


def test_kinds_of_rules() -> None:
    kinds = {
        "in 10 minutes": Once,
        "tomorrow at 8": Once,
        "every 10 minutes": Interval,
        "every day at 8": Wall,
        "0 9 * * *": Cron,
    }
    for text, kind in kinds.items():
        assert type(understand(text, ZONE, AT).rule) is kind
    assert understand("tomorrow at 8", ZONE, AT).rule == Once(wall=datetime(2026, 11, 30, 8))
    assert understand("every day at 7", "Pacific/Auckland", AT).rule == Wall(
        unit="day", times=(time(7),), start=date(2026, 11, 30)
    )


def test_sc_05_a_date_that_there_is_none_of_is_refused_within_100_ms() -> None:
    """SC-05."""
    for text in ("30 Feb", "31 of April", "* * 31 2 *", "30 Feb yearly", "every year on 31 April"):
        began = clocks.process_time()
        with pytest.raises(Refused):
            understand(text, ZONE, AT)
        assert clocks.process_time() - began < 1.0, "a bound for a busy machine"


def test_sc_04_a_zone_is_checked_with_the_words() -> None:
    """SC-04."""
    for zone in ("PST", "UTC+3", "Mars/Olympus", ""):
        with pytest.raises(Refused) as refused:
            understand("every day at 7", zone, AT)
        assert getattr(refused.value, "hint", "") and not isinstance(refused.value, NotUnderstood)
