"""Holes in asking: an export that two accounts share, requests that somebody overhears, and a delegation that anybody could sign (S10)."""

import json
import re
from pathlib import Path

import pytest

from infra.prove.areas.asking import check_delegations, check_listening, check_names
from tests.factories.stack import Stack
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, named, see
from tests.prove.test_holes_on_the_bus import edited

pytestmark = pytest.mark.stack
ASK = "ask.connectors.agent.call"


def shared_export(text: str) -> str:
    """What the agent may ask, the site may ask, too: exported to both, imported, and allowed to its user."""
    text = re.sub(rf'(service: "{ASK}",[^}}]*accounts: \[AGENT)\]', r"\1, SITE]", text)
    text = text.replace('publish: { allow: ["from.site.', f'publish: {{ allow: ["{ASK}", "from.site.', 1)
    site = text.index("  SITE {")
    imports = text.index("imports: [", site) + len("imports: [")
    return f'{text[:imports]}\n      {{ service: {{ account: CONNECTORS, subject: "{ASK}" }} }}{text[imports:]}'


def copies(text: str) -> str:
    """A second part with the connectors' key could take a copy of every request."""
    return text.replace(f'"{ASK} connectors"', f'"{ASK}"')


def _public(stack: Stack) -> Path:
    return stack.layout.public_keys


def anybody_may_delegate(stack: Stack) -> None:
    """The decision key counts as an identity key: whoever can have decisions signed can act for every owner."""
    path = _public(stack)
    path.with_name("public.kept").write_text(path.read_text())
    found = json.loads(path.read_text())
    found["identity"] += found["decision"]
    path.write_text(json.dumps(found))
    stack.back("connectors", stack.kill("connectors"))


def as_it_was(stack: Stack) -> None:
    path = _public(stack)
    kept = path.with_name("public.kept")
    path.write_text(kept.read_text())
    kept.unlink()
    stack.back("connectors", stack.kill("connectors"))


HOLES = [edited("a shared export", shared_export, f"ask as somebody else: {ASK}", check_names)]
SLOW_HOLES = [
    edited("a request that can be overheard", copies, "hear what is asked", check_listening),
    Hole("anybody may delegate", check_delegations, "signed with the decision key", anybody_may_delegate, as_it_was),
]


@pytest.mark.parametrize("hole", named(HOLES))
def test_a_planted_hole_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)


@pytest.mark.long
@pytest.mark.parametrize("hole", named(SLOW_HOLES))
def test_a_hole_that_takes_a_restart_is_found(proving: Proving, hole: Hole) -> None:
    see(hole, proving.stack)
