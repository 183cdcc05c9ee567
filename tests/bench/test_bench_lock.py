"""`schleuse bench lock` end to end, with a hundredth of its work: the shape of what it prints, and nothing about time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = ("events_per_s", "signals_per_s", "ratio_to_slowest_raw", "page_cached_per_s", "rss_mb")
GROUPS = {
    "approve_to_visible_ms": {"p50", "p99"},
    "approve_to_visible_loaded_ms": {"p99"},
    "approve_to_visible_backlog_ms": {"p99"},
    "raw": {"js_publish_per_s", "js_fetch_per_s", "pg_batch_per_s"},
    "withdraw_ms": {"p99"},
}


@pytest.mark.long
def test_bench_lock_prints_every_figure_that_others_rely_on() -> None:
    command = [sys.executable, "-m", "infra.cli.main", "bench", "lock", "--runs", "1", "--size", "0.01", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert all(found[name] > 0 for name in NUMBERS)
    for name, keys in GROUPS.items():
        assert keys <= found[name].keys()
        assert all(value > 0 for value in found[name].values())
    assert all({"wall_s", "cpu_s", "cores"} <= run["usage"].keys() for runs in found["runs"].values() for run in runs)
