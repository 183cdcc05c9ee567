"""What goes wrong over there, as typed errors. None of them holds a URL, a header or a body, nor the exception that did (SE-01)."""

import httpx2

from shared.errors import Permanent, SchleuseError, TooLarge, Transient

UNSENT = frozenset({"unresolved", "unreachable", "tls"})
"""Codes of failures before anything of the request was sent."""
NAMED: tuple[tuple[type[httpx2.HTTPError], type[SchleuseError], str, str], ...] = (
    (httpx2.ConnectTimeout, Transient, "unreachable", "does not answer; try again later"),
    (httpx2.ConnectError, Transient, "unreachable", "cannot be reached; try again later"),
    (httpx2.TimeoutException, Transient, "timeout", "took too long; try again later"),
    (
        httpx2.LocalProtocolError,
        Permanent,
        "bad_request",
        "cannot be asked that: a header or the body's length is wrong",
    ),
    (httpx2.RemoteProtocolError, Transient, "bad_answer", "broke off, or does not answer in HTTP as it should"),
    (httpx2.NetworkError, Transient, "broken_off", "broke the connection off; try again later"),
)


def explain(error: httpx2.HTTPError, host: str) -> SchleuseError:
    """To be raised outside of the except block, so that nothing chains to `error`, which knows the request."""
    for kind, typed, code, words in NAMED:
        if isinstance(error, kind):
            return typed(f"{host} {words}", code=code)
    return Permanent(f"{host} cannot be asked that", code="bad_request")


def too_slow(host: str, connector: str, seconds: float) -> SchleuseError:
    return Transient(
        f"{host} took longer than the {seconds:g} s of connector {connector} (timeout_s); try again later",
        code="timeout",
    )


def too_large(host: str, connector: str, limit: int) -> SchleuseError:
    return TooLarge(
        f"the answer of {host} is larger than the {limit} bytes of connector {connector} (max_response_bytes); ask for less",
        code="answer_too_large",
    )
