"""One file per area; each has `check(target)`, which returns its rows of the matrix."""
