"""A value of the secret store never reaches the site: not in what is submitted, nor in what waited while it became a secret (S14)."""

from uuid import uuid4

import pytest

from tests.factories.documents import decide, listed, submit
from tests.factories.own_secrets import is_stopped, put_secret
from tests.factories.stack import Stack
from tests.factories.waiting import until

pytestmark = pytest.mark.stack


def test_what_becomes_a_secret_is_stopped_from_then_on(stack: Stack) -> None:
    value, name = f"late-{uuid4().hex}", uuid4().hex[:8]
    text = f"# Notes {name}\n\nThe key is {value}, and nobody minds yet.\n"
    waits = submit(stack, text)
    put_secret(stack, name, value)
    until(lambda: is_stopped(stack, text), 10, "the lock knows the new secret", 0.1)
    found = decide(stack, waits)
    assert not found["decided"] and "value of the secret store" in str(found["refused"])
    assert listed(stack, waits)["state"] == "submitted"
    assert not is_stopped(stack, f"# Notes {name}\n\nThe key is elsewhere.\n")
    said = stack.ask("bridge", "inspection.check")
    assert (said["why"], said["canary"], said["clean"]) == ("", True, True)
    assert value not in str(stack.items())
