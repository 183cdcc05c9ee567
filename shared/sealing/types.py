"""What a secret of each type is made of. Fields of type SecretStr are values: no list, log, error or repr shows them; the others are public."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from schemas.outward import SecretType
from schemas.text import text_fault
from shared.errors import Refused

LONGEST = 16 * 1024
"""Characters of one value."""


def _value(found: SecretStr) -> SecretStr:
    text = found.get_secret_value()
    if len(text) > LONGEST:
        raise ValueError(f"a value has at most {LONGEST} characters")
    if text_fault(text):
        raise ValueError("a value has no NUL character and no lone surrogate")
    return found


def _present(found: SecretStr) -> SecretStr:
    if not found.get_secret_value():
        raise ValueError("a value is needed")
    return found


def _line_value(found: SecretStr) -> SecretStr:
    if any(not char.isprintable() for char in found.get_secret_value()):
        raise ValueError("this value is one line, without control characters (it travels in a header)")
    return found


def _token(found: SecretStr) -> SecretStr:
    """RFC 6749 and 6750: printable ASCII. What was pasted with a space too many would be refused by everybody, and nobody could see why."""
    text = found.get_secret_value()
    if not text.isascii() or text != text.strip():
        raise ValueError("a key or token has ASCII characters only, and no space before or after")
    return found


def _line(found: str) -> str:
    if text_fault(found) or any(not char.isprintable() for char in found):
        raise ValueError("one line without control characters")
    return found


def _https(found: str) -> str:
    parts = urlsplit(found)
    if parts.scheme not in {"https", "http"} or not parts.hostname or parts.username is not None or parts.fragment:
        raise ValueError("an address such as https://provider.example/oauth/token, without user name")
    return found


Value = Annotated[SecretStr, AfterValidator(_value)]
LineValue = Annotated[Value, AfterValidator(_line_value)]
Token = Annotated[LineValue, AfterValidator(_token)]
Required = AfterValidator(_present)
PublicLine = Annotated[str, Field(min_length=1, max_length=320), AfterValidator(_line)]
Port = Annotated[int, Field(ge=1, le=65535)]
NONE = SecretStr("")


class SecretFields(BaseModel):
    """Base. Unknown fields are errors; an error never repeats what was given."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    @classmethod
    def secret_names(cls) -> tuple[str, ...]:
        return tuple(name for name, field in cls.model_fields.items() if field.annotation is SecretStr)

    @classmethod
    def public_names(cls) -> tuple[str, ...]:
        secret = cls.secret_names()
        return tuple(name for name in cls.model_fields if name not in secret)

    def public(self) -> dict[str, str]:
        """What a list may show."""
        return {name: text for name in self.public_names() if (text := str(getattr(self, name)))}

    def opened(self) -> dict[str, str]:
        """All fields as text, values too. To be sealed, or for the time of one call."""
        found = {name: getattr(self, name).get_secret_value() for name in self.secret_names()}
        return self.public() | {name: text for name, text in found.items() if text}


class ApiKey(SecretFields):
    key: Annotated[Token, Required]


class Basic(SecretFields):
    """RFC 7617: the user name holds no colon."""

    username: Annotated[PublicLine, Field(pattern=r"^[^:]+$")]
    password: Annotated[LineValue, Required]


class OAuth2(SecretFields):
    """Either a refresh token, or the client's own credentials. `access_token`: one that is good already, if there is any."""

    token_url: Annotated[PublicLine, AfterValidator(_https)]
    client_id: PublicLine
    scope: Annotated[str, Field(max_length=500), AfterValidator(_line)] = ""
    client_secret: Token = NONE
    refresh_token: Token = NONE
    access_token: Token = NONE

    @model_validator(mode="after")
    def _can_refresh(self) -> Self:
        if not (self.refresh_token.get_secret_value() or self.client_secret.get_secret_value()):
            raise ValueError("give a refresh_token, or the client_secret of a client that acts for itself")
        return self


class _Mailbox(SecretFields):
    host: PublicLine
    port: Port
    security: Literal["tls", "starttls"]
    username: PublicLine
    password: Annotated[Value, Required]


class Imap(_Mailbox):
    port: Port = 993
    security: Literal["tls", "starttls"] = "tls"


class Smtp(_Mailbox):
    """`sender`: the address that mail comes from."""

    port: Port = 465
    security: Literal["tls", "starttls"] = "tls"
    sender: PublicLine


class SigningKey(SecretFields):
    """A key that the connectors sign requests with; PEM, base64 or a shared text, as the algorithm wants it."""

    algorithm: Literal["hmac-sha256", "hmac-sha512", "ed25519", "rs256", "es256"]
    key_id: Annotated[str, Field(max_length=200), AfterValidator(_line)] = ""
    key: Annotated[Value, Required]


TYPES: dict[SecretType, type[SecretFields]] = {
    "api_key": ApiKey,
    "basic": Basic,
    "oauth2": OAuth2,
    "imap": Imap,
    "smtp": Smtp,
    "signing_key": SigningKey,
}


def check_type(name: str) -> SecretType:
    for known in TYPES:
        if name == known:
            return known
    raise Refused(f"there is no type of secret {name[:40]!r}; there are {', '.join(get_args(SecretType))}", code="type")


def check_fields(kind: SecretType, fields: Mapping[str, Any]) -> SecretFields:
    """Refused (code `secret_fields`) names the field and what it should be, never what was given."""
    try:
        return TYPES[kind].model_validate(dict(fields))
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = str(found["loc"][0]) if found["loc"] else ""
        message = found["msg"].removeprefix("Value error, ")
    if name not in TYPES[kind].model_fields:
        takes = f"{kind} takes {', '.join(TYPES[kind].model_fields)}"
        raise Refused(f"a field is unknown: {takes}" if name else message, code="secret_fields")
    raise Refused(f"the field {name} of {kind}: {message}", code="secret_fields")
