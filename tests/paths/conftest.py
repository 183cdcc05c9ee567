"""People and places that the stories share."""

import pytest

from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor


@pytest.fixture(scope="session")
def moderator(owner: Person) -> Person:
    return owner.add("moderator", "Mona Moderator")


@pytest.fixture(scope="session")
def second_moderator(owner: Person) -> Person:
    return owner.add("moderator", "Tom Brandt")


@pytest.fixture
def visitor(stack: Stack) -> Visitor:
    return Visitor(stack)
