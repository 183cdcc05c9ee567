"""The proof of time: ten years of random schedules in every zone, with restarts, clock steps and two owners, judged by an oracle of its own.

oracle.py      what should have happened; shares no code with shared.schedules, and asks a zone for what its clock shows at an instant only
schedules.py   random schedules, each with how the oracle tells its days
world.py       a store with a lease and unique rows, two owners of the loop, and what befalls them
judge.py       what happened beside what should have
ten_years.py   all zones; `schleuse bench time`
"""
