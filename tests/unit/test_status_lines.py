"""What `schleuse status` says in one line."""

import pytest

from infra.cli.status import _outward, _talking


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({}, ""),
        ({"connectors_on": 0, "connectors_not_answering": 0}, ""),
        ({"connectors_on": 3, "connectors_not_answering": 0}, "3 on, all answer"),
        ({"connectors_on": 3, "connectors_not_answering": 1}, "3 on, [yellow]1 of them not answering[/]; `schleuse connectors list` says why"),
    ],
)  # fmt: skip
def test_connectors_that_do_not_answer_are_counted(figures: dict[str, int], said: str) -> None:
    assert _outward({"bridge": {"figures": {}}, "connectors": {"figures": figures}}) == said


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"turns_running": 0, "turns_waiting": 0, "model_calls_open": 0, "cap_refusals": 0, "guests_here": 0}, ""),
        ({"turns_running": 2, "turns_waiting": 1, "model_calls_open": 3}, "4 turns running, 2 waiting, 6 calls of models open"),
        ({"cap_refusals": 5, "guests_here": 600}, "[yellow]10 refused by a cap[/] since it started, 1,200 guests"),
        ({"guests_here": None}, ""),
    ],
)  # fmt: skip
def test_what_the_agent_does_now_is_the_sum_of_its_instances(figures: dict[str, int], said: str) -> None:
    assert _talking({"agent": {"figures": figures}, "agent-2": {"figures": figures}, "site": {}}) == said
