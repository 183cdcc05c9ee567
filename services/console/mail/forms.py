"""The forms of mail accounts: what they post, read and sealed at once. No value goes back to any page."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from services.console.forms import SECRET, Form
from services.console.mail.domain import SIDES, Account, SealedPart, Side, check_address, check_label, secret_name
from shared.errors import Refused
from shared.ids import new_id
from shared.sealing import check_fields, seal

NAMES: Mapping[Side, str] = {"imap": "reading (IMAP)", "smtp": "sending (SMTP)"}


def read_account(form: Form, person_id: UUID, recipient: str) -> tuple[Account, list[SealedPart]]:
    """What was typed, its passwords sealed. Refused says which field is off; an account without one of its servers only reads or only sends."""
    account_id, label = new_id(), check_label(form.text("label"))
    hosts = {side: form.text(f"{side}_host").strip() for side in SIDES}
    if not any(hosts.values()):
        raise Refused("Name the server for reading, the one for sending, or both.", code="host")
    account = Account(
        account_id=account_id, person_id=person_id, label=label, connector=form.text("connector").strip(),
        secret=secret_name(label, account_id), address=check_address(form.text("address")),
        reads=bool(hosts["imap"]), sends=bool(hosts["smtp"]),
    )  # fmt: skip
    return account, [_sealed(account, side, _typed(form, account, side), recipient) for side in account.sides]


def read_passwords(
    form: Form, account: Account, public: Mapping[Side, Mapping[str, str]], recipient: str
) -> list[SealedPart]:
    """The new password, sealed beside what is kept of each side. `public`: as the connectors have it, by side."""
    if set(public) != set(account.sides):
        raise Refused("The password that you gave before is still on its way; try again in a moment.", code="coming")
    return [
        _sealed(account, side, {**public[side], "password": _password(form, side)}, recipient) for side in account.sides
    ]


def _typed(form: Form, account: Account, side: Side) -> dict[str, Any]:
    """The user name is the address where none was typed."""
    user = form.text("username").strip() or account.address
    found = {name: form.text(f"{side}_{name}").strip() for name in ("host", "port", "security")}
    found |= {"username": user, "password": _password(form, side)}
    if side == "smtp":
        found["sender"] = account.address
    return {name: text for name, text in found.items() if text}


def _password(form: Form, side: Side) -> str:
    """One for both sides, unless another one was typed for sending."""
    own = form.text(f"{SECRET}smtp_password") if side == "smtp" else ""
    return own or form.text(f"{SECRET}password")


def _sealed(account: Account, side: Side, fields: Mapping[str, Any], recipient: str) -> SealedPart:
    try:
        public = check_fields(side, fields).public()
    except Refused as error:
        raise Refused(f"For {NAMES[side]}: {error.message}.", code=error.code) from None
    place = account.place(side)
    return SealedPart(side, place, public, seal(recipient, place, side, dict(fields)))
