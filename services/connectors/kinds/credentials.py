"""How a connector shows who it is: where its secret goes in a request, and nowhere else."""

import base64
import re
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self
from urllib.parse import quote

from pydantic import Field, model_validator

from schemas.outward import SecretType
from services.connectors.kinds.headers import NOT_OUT, Headers
from services.connectors.kinds.kind import KindSettings
from services.connectors.secrets.types import SecretValue

Scheme = Literal["bearer", "header", "query", "basic", "oauth2"]
TAKES: dict[Scheme, SecretType] = {
    "bearer": "api_key",
    "header": "api_key",
    "query": "api_key",
    "basic": "basic",
    "oauth2": "oauth2",
}


class AuthSettings(KindSettings):
    """`auth`: how its secret goes along, in one or several ways; empty: it needs none.

    `bearer`: in `Authorization`. `header`: in `auth_header`, after `auth_prefix`. `query`: as the parameter `auth_parameter`. `basic`: RFC 7617.
    `oauth2`: an access token, fetched and refreshed with the secret's refresh token.
    """

    auth: tuple[Scheme, ...] = ()
    auth_header: Annotated[str, Field(max_length=100, pattern=r"^[A-Za-z0-9-]+$")] = "X-Api-Key"
    auth_prefix: Annotated[str, Field(max_length=40, pattern=r"^[ -~]*$")] = ""
    auth_parameter: Annotated[str, Field(max_length=100, pattern=r"^[A-Za-z0-9_.-]+$")] = "key"

    @model_validator(mode="after")
    def _one_secret(self) -> Self:
        if len({TAKES[scheme] for scheme in self.auth}) > 1:
            raise ValueError(
                "bearer, header and query take an api_key, basic and oauth2 each its own type: name ways of one type only"
            )
        if self.auth_header.lower() in NOT_OUT - {
            "authorization",
            "x-api-key",
            "api-key",
            "x-goog-api-key",
            "x-auth-token",
        }:
            raise ValueError(f"{self.auth_header} is no header for a key")
        return self

    @property
    def secret_types(self) -> tuple[tuple[SecretType, ...], ...]:
        """Of Plan: one secret, or none."""
        return ((TAKES[self.auth[0]],),) if self.auth else ()


@dataclass(frozen=True)
class Shown:
    """What is added to a request. Never shown elsewhere."""

    headers: Headers = field(default=(), repr=False)
    query: str = field(default="", repr=False)


def show(settings: AuthSettings, secret: SecretValue, token: str) -> Shown:
    """`token`: the access token of an oauth2 secret."""
    fields, headers, query = secret.fields, [], ""
    for scheme in settings.auth:
        match scheme:
            case "bearer":
                headers.append(("authorization", f"Bearer {fields['key']}"))
            case "header":
                headers.append((settings.auth_header.lower(), f"{settings.auth_prefix}{fields['key']}"))
            case "query":
                query = f"{settings.auth_parameter}={quote(fields['key'], safe='')}"
            case "basic":
                both = f"{fields['username']}:{fields['password']}".encode()
                headers.append(("authorization", f"Basic {base64.b64encode(both).decode()}"))
            case "oauth2":
                headers.append(("authorization", f"Bearer {token}"))
    return Shown(tuple(headers), query)


def with_query(path_and_query: str, parameter: str, shown: Shown) -> str:
    """The asker's own parameter of that name gives way."""
    if not shown.query:
        return path_and_query
    path, _, query = path_and_query.partition("?")
    kept = [each for each in query.split("&") if each and not re.match(rf"{re.escape(parameter)}(=|$)", each)]
    return f"{path}?{'&'.join([*kept, shown.query])}"
