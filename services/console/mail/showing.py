"""What the page of mail accounts shows. No value of a secret is anywhere near it."""

from collections.abc import Mapping, Sequence
from typing import Any

from services.console.mail.domain import Account, Side
from services.console.mail.forms import NAMES


def shown_account(account: Account, held: Mapping[str, Any], coming: Mapping[str, Any]) -> dict[str, Any]:
    """{"account", "sides": [{"name", "where", "username", "state", "reason"}]}; `state`: in_use, revoked, coming, refused."""
    return {"account": account, "sides": [_side(account, side, held, coming) for side in account.sides]}


def shown_connectors(rows: Sequence[Mapping[Any, Any]]) -> list[dict[str, Any]]:
    """{"name", "servers", "enabled"}: which servers an account may be at."""
    return [{"name": row["name"], "servers": ", ".join(row["hosts"]), "enabled": row["enabled"]} for row in rows]


def _side(account: Account, side: Side, held: Mapping[str, Any], coming: Mapping[str, Any]) -> dict[str, Any]:
    place = str(account.place(side))
    secret, change = held.get(place), coming.get(place)
    public = secret["public"] if secret else {}
    where = f"{public.get('host', '')}:{public.get('port', '')}" if public else ""
    state = "coming"
    if change is not None and change["outcome"] == "refused" and secret is None:
        state = "refused"
    elif secret is not None and (change is None or change["outcome"] != "sent"):
        state = "in_use" if secret["state"] == "active" else "revoked"
    reason = change["outcome_reason"] or "" if change is not None and change["outcome"] == "refused" else ""
    return {
        "name": NAMES[side],
        "where": where,
        "username": public.get("username", ""),
        "state": state,
        "reason": reason,
    }
