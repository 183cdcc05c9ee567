"""The write-only forms of secrets: which fields a type has, and a posted form read and sealed. No value goes back to any page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, get_args

from schemas.outward import SecretPlace, SecretType
from services.console.forms import SECRET, Form
from services.console.secrets.domain import Action, Change, read_operations
from shared.errors import Refused
from shared.sealing import TYPES, check_fields, read_place, seal

LABELS = {
    "key": "Key",
    "username": "User name",
    "password": "Password",
    "token_url": "Token address",
    "client_id": "Client id",
    "scope": "Scope, if any",
    "client_secret": "Client secret",
    "refresh_token": "Refresh token",
    "access_token": "Access token, if there is one",
    "host": "Host",
    "port": "Port",
    "security": "TLS",
    "sender": "Sender's address",
    "algorithm": "Algorithm",
    "key_id": "Key id, if any",
}
TYPE_WORDS: dict[SecretType, str] = {
    "api_key": "API key",
    "basic": "User name and password",
    "oauth2": "OAuth 2 client",
    "imap": "Mailbox (IMAP)",
    "smtp": "Outgoing mail (SMTP)",
    "signing_key": "Signing key",
}
OVERLAPS = {0: "not at all", 3600: "1 hour", 86400: "1 day", 7 * 86400: "7 days"}


@dataclass(frozen=True)
class Field:
    """One input of a form. `choices`: it is one of these; `lines`: the value may have several."""

    name: str
    label: str
    secret: bool
    needed: bool
    default: str
    choices: tuple[str, ...] = ()
    lines: bool = False


def fields_of(kind: SecretType) -> list[Field]:
    """Public ones first."""
    model = TYPES[kind]
    return [_field(kind, name) for name in (*model.public_names(), *model.secret_names())]


def _field(kind: SecretType, name: str) -> Field:
    model = TYPES[kind]
    found = model.model_fields[name]
    secret = name in model.secret_names()
    default = "" if secret or found.is_required() else str(found.default)
    choices = tuple(str(each) for each in get_args(found.annotation))
    return Field(name, LABELS[name], secret, found.is_required(), default, choices, kind == "signing_key" and secret)


def read_change(form: Form, action: Action, place: SecretPlace, kind: SecretType, recipient: str) -> Change:
    """What a posted form asks for; a value in it is sealed here and goes no further. Refused says which field is off."""
    sealed: bytes | None = None
    public: Mapping[str, str] = {}
    if action in ("put", "rotate"):
        given = _given(form, kind)
        public, sealed = check_fields(kind, given).public(), seal(recipient, place, kind, given)
    return Change(
        place=place,
        action=action,
        reason=form.text("reason"),
        type=kind,
        sealed=sealed,
        public=public,
        operations=read_operations(form.text("operations")) if action in ("put", "narrow") else (),
        version=form.whole("version") or 0,
        overlap=_overlap(form.text("overlap")),
        expires_at=_day(form.text("expires")),
        seen=form.whole("seen"),
    )


def place_of(form: Form) -> SecretPlace:
    """Where a new secret is put, from the form's fields."""
    owner, names = form.text("owner").strip(), [form.text(name).strip() for name in ("surface", "connector", "name")]
    surface, connector, name = names
    return read_place("/".join([surface, connector, *([owner] if owner else []), name]))


class Given(dict[str, str]):
    """What a form is filled with; what is not there is empty."""

    def __missing__(self, name: str) -> str:
        return ""


def shown_again(form: Form) -> Given:
    """What a refused form shows once more: everything but values."""
    return Given({name: text for name, text in form.fields if name != "token" and not name.startswith(SECRET)})


def _given(form: Form, kind: SecretType) -> dict[str, Any]:
    model = TYPES[kind]
    public = {name: form.text(name).strip() for name in model.public_names()}
    values = {name: form.text(f"{SECRET}{name}") for name in model.secret_names()}
    return {name: text for name, text in (public | values).items() if text}


def _overlap(text: str) -> timedelta | None:
    if not text:
        return None
    if not text.isdigit() or int(text) not in OVERLAPS:
        raise Refused("How long the version before stays usable is one of the times listed.", code="overlap")
    return timedelta(seconds=int(text))


def _day(text: str) -> datetime | None:
    """The end of a day, UTC."""
    if not text:
        return None
    try:
        return datetime.combine(datetime.fromisoformat(text).date(), time(23, 59, 59), UTC)
    except ValueError:
        raise Refused("A day is written as 2027-01-31.", code="expires") from None
