"""The arguments of an operation: unknown ones are errors."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from services.connectors.kinds.kind import Request
from shared.errors import Refused

A = TypeVar("A", bound=BaseModel)
_NAMES = {"missing": "is needed", "extra_forbidden": "is unknown"}


def read_arguments(kind: type[A], request: Request) -> A:
    """Refused (code `arguments`) names what does not fit, never what was given."""
    try:
        return kind.model_validate(dict(request.arguments))
    except ValidationError as error:
        said = faults_of(error)
    known = ", ".join(field.alias or name for name, field in kind.model_fields.items())
    raise Refused(f"{said} (operation {request.operation} of {request.connector} takes {known})", code="arguments")


def faults_of(error: ValidationError) -> str:
    """Up to three faults in a person's words: which field, and what is the matter; never what was given."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)[:3]
    return "; ".join(
        _words(".".join(str(part)[:60] for part in each["loc"]), each["type"], each["msg"]) for each in faults
    )


def are_of_names(error: ValidationError) -> bool:
    """Whether a field is unknown or not there, so that it helps to say which there are."""
    return any(each["type"] in _NAMES for each in error.errors(include_url=False, include_input=False))


def _words(name: str, kind: str, message: str) -> str:
    if kind in _NAMES:
        return f"{name} {_NAMES[kind]}"
    message = message.removeprefix("Value error, ")
    return f"{name}: {message}" if name else message
