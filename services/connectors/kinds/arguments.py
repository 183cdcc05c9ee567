"""The arguments of an operation: unknown ones are errors."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from services.connectors.kinds.kind import Request
from shared.errors import Refused

A = TypeVar("A", bound=BaseModel)


def read_arguments(kind: type[A], request: Request) -> A:
    """Refused (code `arguments`) names the first that does not fit, never what was given."""
    try:
        return kind.model_validate(dict(request.arguments))
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = ".".join(str(part)[:60] for part in found["loc"]) or "arguments"
        said = f"{name}: {found['msg']}"
    known = ", ".join(field.alias or name for name, field in kind.model_fields.items())
    raise Refused(f"{said} (operation {request.operation} of {request.connector} takes {known})", code="arguments")
