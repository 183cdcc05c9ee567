"""What breaks unexpectedly in work for others tells its type and place, and nothing that it held."""

import pytest

from shared.errors import Permanent, Refused
from shared.faults import faults_told


def test_an_unexpected_fault_says_where_and_not_what() -> None:
    with pytest.raises(Permanent) as found, faults_told("there"):
        raise ValueError("Bearer sk-planted")
    assert found.value.code == "broken" and "ValueError in test_faults.py" in found.value.message
    assert "sk-planted" not in found.value.message and found.value.__suppress_context__


def test_a_typed_error_passes_as_it_is() -> None:
    with pytest.raises(Refused) as found, faults_told("there"):
        raise Refused("not this", code="own")
    assert found.value.code == "own"
