"""Secrets, sealed: their types, and the age files that only the connectors open.

A value is sealed before anything is stored or staged, and what it is for is sealed in with it.
"""

from shared.sealing.age import Identity, Unsealed, read_recipient, seal, unseal
from shared.sealing.places import read_place
from shared.sealing.types import TYPES, SecretFields, check_fields

__all__ = [
    "TYPES",
    "Identity",
    "SecretFields",
    "Unsealed",
    "check_fields",
    "read_place",
    "read_recipient",
    "seal",
    "unseal",
]
