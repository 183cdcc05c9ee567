"""Traces, too, are searched for planted values: a real exporter sends them to a collector of ours."""

import json
import re
from pathlib import Path

import pytest

from tests.counterparts.server import serving
from tests.factories.asking import declare
from tests.factories.leaks import found_in, plant
from tests.factories.stack import Stack, running_stack
from tests.factories.waiting import until
from tests.paths.test_secrets import KEYED, answer, call, put, refusal

pytestmark = [pytest.mark.stack, pytest.mark.long, pytest.mark.timeout(300)]


def collect_traces_at(stack: Stack, url: str) -> None:
    """As an operator would: a line in config.json, and a start."""
    stack.down()
    config: Path = stack.layout.config
    config.write_text(json.dumps(json.loads(config.read_text()) | {"otlp_endpoint": url}, indent=1))
    stack.up()


def test_no_span_holds_a_value_whatever_goes_wrong() -> None:
    with serving(answer) as collector, serving(answer) as there, running_stack(own=True) as stack:
        collect_traces_at(stack, collector.url)
        declare(stack, KEYED, base=there.url, auth=["header", "query"], timeout_s=1, paths=["/**"])
        put(stack, f"agent/{KEYED}/traced", plant())
        call(stack, "/fine", "traced")
        for path in ("/hangs", "/away/1"):
            refusal(stack, KEYED, path, secret="traced")

        def spans() -> str:
            return " ".join(each.body.decode("latin-1") for each in collector.seen)

        until(
            lambda: re.search("ask|call", spans()) and "console operator secrets.change" in spans(),
            60,
            "the spans have come",
        )
        assert found_in([spans()]) == []
