"""Asking a provider's token address for an access token (RFC 6749, 4.4 and 6)."""

import base64
import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

import httpx2

from services.connectors.egress.hosts import Target, parse_url
from services.connectors.egress.way import Way
from services.connectors.kinds.decoding import Decoder
from services.connectors.kinds.failures import explain
from services.connectors.kinds.token_files import Tokens
from services.connectors.secrets.types import SecretValue
from shared.clock import now
from shared.errors import Permanent, Refused, SchleuseError, Transient

LARGEST = 64 * 1024
"""Bytes of an answer."""
WITHIN_S = 15.0


async def fetch_tokens(way: Way, secret: SecretValue, refresh_token: str) -> Tokens:
    """Permanent (code `authorization_ended`) when the provider does not take it any more, Transient when it may later."""
    target = parse_url(secret.fields["token_url"])
    status, raw = await _post(way, target, _form(secret, refresh_token), _who(secret))
    found = _read(raw)
    if status >= 500 or status == 429:
        raise Transient(f"{target.host} grants no access token now (status {status}); try again later", code="token")
    if status != 200 or not isinstance(found.get("access_token"), str):
        raise _ended(secret, target, status, found)
    lifetime = found.get("expires_in")
    known = isinstance(lifetime, int | float) and 0 < lifetime < 10**9
    ends = now() + timedelta(seconds=float(lifetime)) if known and lifetime is not None else None
    return Tokens(found["access_token"], str(found.get("refresh_token") or ""), ends)


def _form(secret: SecretValue, refresh_token: str) -> dict[str, str]:
    form = (
        {"grant_type": "refresh_token", "refresh_token": refresh_token}
        if refresh_token
        else {"grant_type": "client_credentials"}
    )
    if scope := secret.fields.get("scope"):
        form["scope"] = scope
    return form if secret.fields.get("client_secret") else form | {"client_id": secret.fields["client_id"]}


def _who(secret: SecretValue) -> list[tuple[str, str]]:
    """A client that has a secret shows it as RFC 6749, 2.3.1, says that every provider takes it."""
    if not secret.fields.get("client_secret"):
        return []
    both = ":".join(quote(secret.fields[name], safe="") for name in ("client_id", "client_secret"))
    return [("authorization", f"Basic {base64.b64encode(both.encode()).decode()}")]


async def _post(way: Way, target: Target, form: dict[str, str], who: list[tuple[str, str]]) -> tuple[int, bytes]:
    headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "application/json"),
        ("accept-encoding", "identity"),
        *who,
    ]
    timeout = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), WITHIN_S)}
    request = httpx2.Request("POST", target.url, headers=headers, content=urlencode(form).encode(), extensions=timeout)
    transport, failure = way.http(), None
    try:
        response = await transport.handle_async_request(request)
        try:
            return response.status_code, await _body(response, target)
        finally:
            await response.aclose()
    except httpx2.HTTPError as error:
        failure = explain(error, target.host)
    finally:
        await transport.aclose()
    raise failure


async def _body(response: httpx2.Response, target: Target) -> bytes:
    decoder, found = Decoder(response.headers.get("content-encoding", ""), target.host), b""
    async for chunk in response.aiter_raw():
        for piece in decoder.feed(chunk):
            found += piece
            if len(found) > LARGEST:
                raise Permanent(f"{target.host} answers with more than an access token takes", code="bad_answer")
    return found


def _read(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _ended(secret: SecretValue, target: Target, status: int, found: dict[str, Any]) -> SchleuseError:
    """RFC 6749, 5.2: the code is one word of a fixed set; what else the provider says may hold what it was sent."""
    codes = (
        "invalid_request",
        "invalid_client",
        "invalid_grant",
        "unauthorized_client",
        "unsupported_grant_type",
        "invalid_scope",
    )
    code = next((each for each in codes if found.get("error") == each), f"status {status}")
    if 300 <= status < 400:
        return Refused(
            f"{target.host} redirects from the token address; correct it in secret {secret.place}", code="token"
        )
    return Permanent(
        f"{target.host} does not grant an access token for secret {secret.place} ({code}): authorise it again and rotate the secret",
        code="authorization_ended",
    )
