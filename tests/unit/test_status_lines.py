"""What `schleuse status` says in one line."""

import pytest

from infra.cli.status import _outward


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
