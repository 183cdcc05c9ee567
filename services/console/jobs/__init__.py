"""Cleanup jobs: rows that go when structured conditions hold, at set times, because a person has seen which and signed for it (rule 13, S15)."""
