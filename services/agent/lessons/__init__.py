"""What was learnt: kept with where it came from, found by words (rule 18)."""
