"""When something is to happen: words to a checked schedule, and a schedule to its occurrences. Pure; nothing here knows a database or a clock.

domain.py        what a schedule is
calendar.py      its occurrences, with clock changes and month ends (rules 6, 7); days.py: the days, cron.py: expressions, instants.py: wall time to instants
checks.py        whether a schedule may be kept, and what may surprise
telling.py       its next times, in the zone and in UTC
words/           English and German to a schedule (rule 7a); what is not understood is refused with a hint
zones.py         names of time zones
sentences.py     how it is said that a time was shifted
"""
