"""`schleuse bench edge` end to end: the shape of what it prints, and nothing about time."""

import json
import subprocess
import sys

import pytest

from tests.factories.edge import NGINX
from tests.factories.stack import ROOT

FIGURES = ("page_per_core", "page_per_s", "static_per_core", "static_per_s", "page_to_static", "direct_p50_ms", "through_p50_ms", "direct_p99_ms", "through_p99_ms")  # fmt: skip


@pytest.mark.long
def test_bench_edge_prints_every_figure() -> None:
    if NGINX is None:
        pytest.skip("nginx is missing (Debian: apt-get install nginx-light)")
    command = [sys.executable, "-m", "infra.cli.main", "bench", "edge", "--runs", "1", "--requests", "400", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert all(found[name] > 0 for name in FIGURES)
