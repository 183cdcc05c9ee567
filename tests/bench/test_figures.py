"""What is said about figures; no figure itself is tested."""

import os

import pytest

from infra.bench.approvals import percentile
from infra.bench.report import TARGETS, reached
from infra.bench.usage import Meter, rss_mb


@pytest.mark.parametrize(("share", "value"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.001, 1)])
def test_a_percentile_is_the_nearest_rank(share: float, value: float) -> None:
    assert percentile([float(n) for n in range(100, 0, -1)], share) == value


def test_a_percentile_of_one_value_is_that_value() -> None:
    assert percentile([7.0], 0.99) == 7.0


def figures(value: float) -> dict[str, object]:
    found: dict[str, object] = {}
    for _, path, _, _ in TARGETS:
        if len(path) == 1:
            found[path[0]] = value
        else:
            found.setdefault(path[0], {})[path[1]] = value  # type: ignore[index]
    return found


def test_the_report_says_which_targets_were_reached() -> None:
    low = {what: good for what, _, _, good in reached(figures(0.0))}
    assert low["memory of the five services (MB)"] is True
    assert low["cached page (/s and core)"] is False
    assert low["raw: Postgres batch of 100 (/s)"] is None
    assert all(good is not False for what, _, _, good in reached(figures(1e9)) if "/s" in what)


def test_usage_counts_this_process() -> None:

    meter = Meter({"me": os.getpid()})
    sum(number * number for number in range(200_000))
    shown = meter.read().shown()
    assert {"wall_s", "cpu_s", "cores", "machine_idle"} <= shown.keys()
    assert rss_mb([os.getpid()]) > 1
